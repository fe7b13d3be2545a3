"""Keys: the root key that an operator keeps, and what is sealed under it."""
