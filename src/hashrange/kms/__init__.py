"""Keys: where the root key comes from, what it protects, and how bytes are encrypted under a key."""
