"""Objects in buckets: exports, imports, backups and reports, in a local folder or in any S3-compatible store."""
