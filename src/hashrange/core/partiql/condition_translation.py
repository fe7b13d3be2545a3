"""WHERE as a condition of the expression engine. To PartiQL a condition is a boolean, so that it can be compared."""

from collections.abc import Callable

from hashrange.core import limits
from hashrange.core.expressions import resolved, value_checks
from hashrange.core.partiql import operands, tree
from hashrange.core.partiql.keywords import AGGREGATES
from hashrange.core.partiql.translator import Translator
from hashrange.core.partiql.tree import Node
from hashrange.core.partiql.type_names import SUPPORTED_TYPES, TYPE_CODES, TypeName

Term = resolved.Operand | resolved.Node
UPDATE_FUNCTIONS = frozenset({"list_append", "if_not_exists"})
_COMPARATORS: dict[str, resolved.Comparator] = {
    "=": "=",
    "<>": "<>",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
}
# Stands where a check refuses the statement before anything is made of it.
_NOTHING = resolved.Path(("",))
_IN_OPERANDS = (
    "IN operator must have a left hand argument of type Variable Reference and right hand argument of type Seq "
    "with at least one member"
)


def condition(translator: Translator, node: Node) -> resolved.Node:
    """A whole condition."""
    term = _term(translator, node)
    if isinstance(term, resolved.Operand):
        raise translator.fault("WHERE clause must contain an expression that resolves to a boolean")
    return term


def _term(translator: Translator, node: Node) -> Term:
    match node:
        case tree.Operation():
            return _operation(translator, node)
        case tree.TypeTest():
            return _type_test(translator, node)
        case tree.Call():
            return _call(translator, node)
        case _:
            return operands.operand(translator, node)


def _operation(translator: Translator, node: tree.Operation) -> resolved.Node:
    operands = node.operands
    match node.operator:
        case "AND":
            return _all(translator, operands)
        case "OR":
            return resolved.Or(tuple(_part(translator, operand, "OR") for operand in operands))
        case "NOT":
            return _negation(translator, operands[0])
        case "IN":
            return _membership(translator, operands[0], operands[1])
        case "BETWEEN":
            return _span(translator, operands)
        case operator if operator in _COMPARATORS:
            left, right = (_term(translator, operand) for operand in operands)
            return _comparison(translator, _COMPARATORS[operator], left, right)
        case operator:
            raise translator.fault(
                f"Unsupported operator in Condition Expression. Operator: {operator.lower()}"
            )


def _all(translator: Translator, operands: tuple[Node, ...]) -> resolved.And:
    """Conditions with AND between them; those in parentheses join in, so that key equalities are seen."""
    conditions: list[resolved.Node] = []
    for operand in operands:
        part = _part(translator, operand, "AND")
        conditions += part.conditions if isinstance(part, resolved.And) else [part]
    return resolved.And(tuple(conditions))


def _part(translator: Translator, node: Node, operator: str) -> resolved.Node:
    term = _term(translator, node)
    if isinstance(term, resolved.Size):
        translator.refuse_later(value_checks.wrong_type(operator, "N").detail)
        return resolved.AttributeExists(_NOTHING)
    if isinstance(term, resolved.Operand):
        raise translator.fault("The arguments to AND/OR must be Expressions")
    return term


def _negation(translator: Translator, node: Node) -> resolved.Not:
    term = _term(translator, node)
    if isinstance(term, resolved.Operand):
        raise translator.fault("The argument to NOT must be a Type or Expression")
    return resolved.Not(term)


def _comparison(
    translator: Translator, comparator: resolved.Comparator, left: Term, right: Term
) -> resolved.Node:
    if isinstance(left, resolved.Operand) and isinstance(right, resolved.Operand):
        if comparator not in ("=", "<>"):
            ordered = value_checks.ORDERED_TYPES
            translator.checks += value_checks.type_checks(comparator, (left, right), ordered)
        translator.distinct(comparator, left, (right,))
        return resolved.Compare(comparator, left, right)
    if comparator not in ("=", "<>"):
        translator.refuse_later(value_checks.wrong_type(comparator, "BOOL").detail)
    same = _same_truth(left, right)
    return same if comparator == "=" else resolved.Not(same)


def _same_truth(left: Term, right: Term) -> resolved.Node:
    """A condition and what it is compared with; a value that is no boolean is neither true nor false."""
    match (right, left) if isinstance(left, resolved.Operand) else (left, right):
        case (resolved.Path() | resolved.Literal() | resolved.Parameter() | resolved.Size(), _):
            raise AssertionError((left, right))
        case condition, resolved.Literal({"BOOL": True}):
            return condition
        case condition, resolved.Literal({"BOOL": False}):
            return resolved.Not(condition)
        case condition, other:
            return resolved.Equivalent(condition, (other,))


def _span(translator: Translator, operands: tuple[Node, ...]) -> resolved.Between:
    operand, low, high = (_operand(translator, node, "BETWEEN") for node in operands)
    translator.checks += value_checks.type_checks("BETWEEN", (operand, low, high), value_checks.ORDERED_TYPES)
    translator.distinct("BETWEEN", operand, (low, high))
    if isinstance(low, resolved.Known) and isinstance(high, resolved.Known):
        translator.checks.append(value_checks.Bounds(low, high))
    return resolved.Between(operand, low, high)


def _operand(translator: Translator, node: Node, function: str) -> resolved.Operand:
    term = _term(translator, node)
    if isinstance(term, resolved.Operand):
        return term
    translator.refuse_later(value_checks.wrong_type(function, "BOOL").detail)
    return _NOTHING


def _membership(translator: Translator, left: Node, right: Node) -> resolved.Node:
    if not isinstance(right, tree.Sequence) or right.kind == "Sexp" or not right.members:
        raise translator.fault(_IN_OPERANDS)
    term = _term(translator, left)
    candidates = [_term(translator, member) for member in right.members]
    translator.distinct("IN", term, tuple(candidates))
    if len(candidates) > limits.IN_OPERANDS_MAX:
        translator.refuse_later(
            f"The IN operator is provided with too many operands; number of operands: {len(candidates)}"
        )
    if not isinstance(term, resolved.Operand):
        return resolved.Equivalent(term, tuple(candidates))
    operands = tuple(candidate for candidate in candidates if isinstance(candidate, resolved.Operand))
    if len(operands) == len(candidates):
        return resolved.In(term, operands)
    conditions = [candidate for candidate in candidates if not isinstance(candidate, resolved.Operand)]
    return resolved.Or((resolved.In(term, operands), *(_same_truth(term, each) for each in conditions)))


def _type_test(translator: Translator, node: tree.TypeTest) -> resolved.Node:
    """IS [NOT] followed by MISSING, NULL or another type; a missing attribute has no type."""
    if not isinstance(node.operand, tree.Name | tree.Path | tree.Constant):
        raise translator.fault(
            "The left hand side argument to IS must be a Variable Reference, Literal, or Path"
        )
    codes = TYPE_CODES.get(node.type_name)
    if codes is None and node.type_name != "MISSING":
        raise translator.fault(
            f"Unsupported data type for IS operator: {node.type_name}. "
            f"Supported data types are {SUPPORTED_TYPES} at {node.token.position}"
        )
    operand = _operand(translator, node.operand, "IS")
    if codes is None:
        function = "attribute_exists" if node.negated else "attribute_not_exists"
        path = _only_path(translator, operand, function)
        return resolved.AttributeExists(path) if node.negated else resolved.AttributeNotExists(path)
    test: resolved.Node = resolved.AttributeType(operand, resolved.Literal({"S": codes}))
    if codes == "NULL":
        # To the service this is an equality like any other, also on a key.
        test = resolved.Compare("=", operand, resolved.Literal({"NULL": True}))
    return resolved.Not(test) if node.negated else test


def _only_path(translator: Translator, operand: resolved.Operand, function: str) -> resolved.Path:
    if isinstance(operand, resolved.Path):
        return operand
    translator.refuse_later(
        f"Operator or function requires a document path; operator or function: {function}"
    )
    return _NOTHING


def _call(translator: Translator, node: tree.Call) -> Term:
    if node.token.word in AGGREGATES:
        raise translator.fault(f"Unsupported token in expression: {node.name} at {node.token.position}")
    arguments = tuple(_operand(translator, argument, node.name) for argument in node.arguments)
    if node.name in UPDATE_FUNCTIONS:
        translator.refuse_later(
            f"The function is not allowed in a condition expression; function: {node.name}"
        )
        return _NOTHING
    function = _FUNCTIONS.get(node.name)
    if function is None:
        raise translator.fault(f"Unrecognized function: {node.name} at {node.token.position}")
    count, make = function
    if len(arguments) != count:
        translator.refuse_later(
            "Incorrect number of operands for operator or function; "
            f"operator or function: {node.name}, number of operands: {len(arguments)}"
        )
        return resolved.AttributeExists(_NOTHING)
    return make(translator, *arguments)


def _begins_with(translator: Translator, operand: resolved.Operand, prefix: resolved.Operand) -> Term:
    prefixes = value_checks.PREFIX_TYPES
    translator.checks += value_checks.type_checks("begins_with", (operand, prefix), prefixes)
    translator.distinct("begins_with", operand, (prefix,))
    return resolved.BeginsWith(operand, prefix)


def _contains(translator: Translator, operand: resolved.Operand, member: resolved.Operand) -> Term:
    translator.distinct("contains", operand, (member,))
    return resolved.Contains(operand, member)


def _attribute_type(translator: Translator, operand: resolved.Operand, name: resolved.Operand) -> Term:
    translator.distinct("attribute_type", operand, (name,))
    if isinstance(name, resolved.Known):
        typed = value_checks.Typed("attribute_type", name, value_checks.STRING_TYPES)
        translator.checks += [typed, TypeName(name)]
    else:
        kind = "N" if isinstance(name, resolved.Size) else "PATH"
        translator.refuse_later(value_checks.wrong_type("attribute_type", kind).detail)
    return resolved.AttributeType(operand, name)


def _exists(translator: Translator, operand: resolved.Operand) -> Term:
    return resolved.AttributeExists(_only_path(translator, operand, "attribute_exists"))


def _not_exists(translator: Translator, operand: resolved.Operand) -> Term:
    return resolved.AttributeNotExists(_only_path(translator, operand, "attribute_not_exists"))


def _size(translator: Translator, operand: resolved.Operand) -> Term:
    translator.checks += value_checks.type_checks("size", (operand,), value_checks.SIZED_TYPES)
    return resolved.Size(operand)


_FUNCTIONS: dict[str, tuple[int, Callable[..., Term]]] = {
    "begins_with": (2, _begins_with),
    "contains": (2, _contains),
    "attribute_type": (2, _attribute_type),
    "attribute_exists": (1, _exists),
    "attribute_not_exists": (1, _not_exists),
    "size": (1, _size),
}
FUNCTION_NAMES = frozenset(_FUNCTIONS)
