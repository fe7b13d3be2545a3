"""PartiQL: statements parsed once per text, then bound to parameters and lowered onto the expression engine."""
