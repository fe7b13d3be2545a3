"""Keys of tables that another key service wraps: `--kms-endpoint`."""
