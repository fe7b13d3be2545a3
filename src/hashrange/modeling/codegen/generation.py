"""Code of a whole model, in one of the languages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hashrange.modeling.codegen.entities import EntityCode, entity_code
from hashrange.modeling.codegen.functions import Function, Omission, read_function
from hashrange.modeling.codegen.nodes import Names
from hashrange.modeling.codegen.python_writing import python_module
from hashrange.modeling.codegen.typescript_writing import typescript_module
from hashrange.modeling.model import Model

LANGUAGES: dict[str, Callable[[Sequence[EntityCode], Sequence[Function]], str]] = {
    "python": python_module,
    "typescript": typescript_module,
}


@dataclass(frozen=True, slots=True)
class Code:
    """A module, and the patterns that it has no function for."""

    text: str
    omissions: tuple[Omission, ...]


def generate(model: Model, language: str) -> Code:
    """The module of a model: the same text for the same model."""
    names = Names()
    entities = [entity_code(model, entity, names) for entity in model.entities.values()]
    made = [read_function(model, pattern, names.take(pattern.id.lower())) for pattern in model.reads]
    functions = [function for function in made if isinstance(function, Function)]
    text = LANGUAGES[language](entities, functions)
    omissions = [function for function in made if isinstance(function, Omission)]
    omissions += [Omission(pattern.id, "writes are not generated yet") for pattern in model.writes]
    return Code(text, tuple(omissions))
