"""Auto scaling of tables and indexes, as Application Auto Scaling and DynamoDB's own operations share it."""
