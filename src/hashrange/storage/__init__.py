"""Storage: items, index rows and counters as ordered bytes behind one engine protocol."""
