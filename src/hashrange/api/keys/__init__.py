"""Keys of the key service, as its own operations and those of tables use them."""
