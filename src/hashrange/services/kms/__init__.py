"""The key service: symmetric keys, aliases and what is encrypted under them, as AWS KMS has it."""
