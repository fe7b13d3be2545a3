"""Work in the background: each job does a bounded step, a supervisor owns sleep, retry and stop."""
