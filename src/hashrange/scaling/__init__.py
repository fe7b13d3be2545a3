"""Auto scaling as pure functions: schedules, and what a target-tracking policy wants. The clock is passed in."""
