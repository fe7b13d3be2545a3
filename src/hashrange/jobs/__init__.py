"""Background jobs: every job does bounded steps; the supervisor sleeps, retries and stops."""
