"""The design studio: a model file whose access patterns are checked, proved, priced and load-tested."""
