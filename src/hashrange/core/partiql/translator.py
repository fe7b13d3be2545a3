"""What the translation of a statement keeps track of, and the parts that all statements have: paths and parameters."""

from hashrange.core.expressions import resolved, value_checks
from hashrange.core.limits import LIST_INDEX_MAX, NESTING_LEVELS_MAX
from hashrange.core.partiql import tree
from hashrange.core.partiql.errors import Untranslatable
from hashrange.core.partiql.syntax import Check, Target
from hashrange.core.partiql.tree import Node

_INDEX_DIGITS_MAX = len(str(LIST_INDEX_MAX))
MISSING_COMPARED = "MISSING must be compared using IS operator"


class Translator:
    """Collects the checks that need values, in the service's order; a fault of the text ends the translation."""

    def __init__(self) -> None:
        self.checks: list[Check] = []
        self.target: Target | None = None
        self._parameters = 0

    def fault(self, message: str) -> Untranslatable:
        """The error of a statement that means nothing to the service."""
        return Untranslatable(message, self._parameters, self.target)

    def refuse_later(self, message: str) -> None:
        """Something that the service finds only after the translation, in the order of its checks."""
        self.checks.append(value_checks.Fault(message))

    def distinct(self, operator: str, first: object, rest: tuple[object, ...]) -> None:
        """The first operand may not be the same document path as one of the others, as in every expression."""
        if isinstance(first, resolved.Path) and first in rest:
            self.refuse_later(
                "The first operand must be distinct from the remaining operands for this operator or function; "
                f"operator: {operator}, first operand: {first}"
            )

    def parameter(self, node: tree.Placeholder) -> resolved.Parameter:
        """The parameter of a `?`."""
        self._parameters = max(self._parameters, node.number)
        return resolved.Parameter(f"?{node.number}")

    def misplaced(self, node: tree.Statement | tree.Special) -> Untranslatable:
        """The error of a statement, or of CASE and CAST, where a value should be."""
        name = node.name if isinstance(node, tree.Special) else node.token.word
        return self.fault(f"Unsupported token in expression: {name} at {node.token.position}")

    def path(self, node: Node) -> resolved.Path:
        """A document path: a name, then any number of .name, ['name'] and [index]."""
        if isinstance(node, tree.Name):
            return resolved.Path((self.name(node),))
        if not isinstance(node, tree.Path) or not isinstance(node.root, tree.Name):
            raise self.fault(f"Unexpected path component at {node.token.position}")
        path = resolved.Path((self.name(node.root), *map(self._part, node.steps)))
        if len(path.parts) > NESTING_LEVELS_MAX:
            self.refuse_later(
                f"The document path has too many nesting levels; nesting levels: {len(path.parts)}"
            )
        return path

    def name(self, node: tree.Name) -> str:
        """A name."""
        return self.named(node.token.text)

    def named(self, name: str) -> str:
        """The name itself, which cannot be empty."""
        if not name:
            raise self.fault("Path component cannot be an empty string")
        return name

    def _part(self, step: tree.Step) -> str | int:
        match step.key:
            case None if step.dotted:
                raise self.fault(
                    f"Unpivot path component like a.*.b are not supported at {step.token.position}"
                )
            case None:
                raise self.fault(
                    f"Wildcard path component like a[*].b are not supported at {step.token.position}"
                )
            case tree.Name() as name:
                return self.name(name)
            case tree.Constant(_, {"S": text}):
                return self.named(str(text))
            case tree.Constant(_, {"N": number}) if str(number).lstrip("-").isdigit():
                return self._index(str(number), step.key)
            case key:
                raise self.fault(f"Unexpected path component at {key.token.position}")

    def _index(self, number: str, node: tree.Constant) -> int:
        digits = number.lstrip("-0") or "0"
        # Python refuses to convert thousands of digits, which a statement may have.
        index = int(digits) if len(digits) <= _INDEX_DIGITS_MAX else LIST_INDEX_MAX + 1
        if index > LIST_INDEX_MAX or (index and number[0] == "-"):
            raise self.fault(
                f"List index is not within the allowable range; index: [{number}] at {node.token.position}"
            )
        return index
