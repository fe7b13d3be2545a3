"""Who may do what: signatures, principals and policies. Pure: no IO, no clock, no randomness."""
