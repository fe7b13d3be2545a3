"""The pure centre: values, keys, expressions and write sets. No clock, no IO, no randomness, no logging."""
