"""Amazon CloudWatch: metrics, metric math and alarms, on the same endpoint."""
