"""`hashrange model load`: a day of traffic against the partition model."""
