"""Code of a whole model, in one of the languages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hashrange.modeling.codegen.entities import EntityCode, entity_code
from hashrange.modeling.codegen.functions import Function, Omission, read_function
from hashrange.modeling.codegen.nodes import Names
from hashrange.modeling.codegen.python_writing import python_module
from hashrange.modeling.codegen.typescript_writing import typescript_module
from hashrange.modeling.codegen.write_functions import write_function
from hashrange.modeling.model import Model, ReadPattern

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
    codes = {code.entity.name: code for code in entities}
    made = [
        read_function(model, pattern, names.take(pattern.id.lower()))
        if isinstance(pattern, ReadPattern)
        else write_function(model, pattern, names.take(pattern.id.lower()), codes)
        for pattern in model.patterns
    ]
    functions = [function for function in made if isinstance(function, Function)]
    text = LANGUAGES[language](entities, functions)
    omissions = [function for function in made if isinstance(function, Omission)]
    return Code(text, tuple(omissions))
