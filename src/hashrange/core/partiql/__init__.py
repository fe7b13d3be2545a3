"""PartiQL: statements parsed once per text, bound to parameters, and lowered onto the expression engine."""

from hashrange.core.partiql.prepared import Bound, bind, prepare

__all__ = ["Bound", "bind", "prepare"]
