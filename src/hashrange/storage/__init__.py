"""Storage: tables, items and index rows as ordered bytes behind one engine protocol."""
