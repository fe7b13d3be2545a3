"""Storage: items, index rows and change records as ordered bytes behind one engine protocol."""
