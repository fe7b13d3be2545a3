"""Application Auto Scaling, for the capacity of tables and indexes."""
