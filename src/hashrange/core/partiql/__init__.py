"""PartiQL: statements parsed once per text, bound to parameters, and run by the engine of the expressions."""

from hashrange.core.partiql.prepared import Bound, bind, prepare

__all__ = ["Bound", "bind", "prepare"]
