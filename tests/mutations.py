"""Small faults for a module: a comparison off by one, a condition turned round, a statement left out."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


@dataclass(frozen=True)
class Mutation:
    """One fault: at which node of the module's tree (counted as `ast.walk` goes), and which."""

    path: Path
    function: int | None  # the line where the outermost function around it begins
    line: int
    column: int
    node: int
    variant: int
    what: str

    def tree(self) -> ast.Module:
        """The module with the fault in it."""
        tree = ast.parse(self.path.read_text("utf-8"))
        parents = {id(child): parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
        node = list(ast.walk(tree))[self.node]
        faulty = list(_faults(node))[self.variant]
        _replace(parents[id(node)], node, ast.copy_location(faulty, node))
        return ast.fix_missing_locations(tree)


def mutations(path: Path) -> list[Mutation]:
    """Every fault that can be made in a module."""
    tree = ast.parse(path.read_text("utf-8"))
    functions = dict(_functions(tree))
    skipped = set(_skipped(tree))
    return [
        Mutation(
            path,
            functions.get(id(node)),
            node.lineno,
            node.col_offset,
            number,
            variant,
            _description(node, faulty),
        )
        for number, node in enumerate(ast.walk(tree))
        if isinstance(node, ast.stmt | ast.expr) and id(node) not in skipped
        for variant, faulty in enumerate(_faults(node))
    ]


def _faults(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[operator, *_]):
            swapped = copy.copy(node)
            swapped.ops = [COMPARISONS[type(operator)](), *node.ops[1:]]
            yield swapped
        case ast.BoolOp():
            swapped_both = copy.copy(node)
            swapped_both.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield swapped_both
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.BinOp() if type(node.op) in OPERATORS:
            swapped_operator = copy.copy(node)
            swapped_operator.op = OPERATORS[type(node.op)]()
            yield swapped_operator
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() as number):
            yield ast.Constant(number + 1)
            yield ast.Constant(number - 1)
        case ast.If() | ast.While() | ast.IfExp():
            turned = copy.copy(node)
            turned.test = ast.UnaryOp(ast.Not(), node.test)
            yield turned
        case ast.Return(value=ast.expr()) if not _is_none(node.value):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()) | ast.Raise() | ast.AugAssign() | ast.Continue() | ast.Break():
            yield ast.Pass()


def _is_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _functions(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """For each node in a function, where the outermost function around it begins."""
    roots: list[ast.AST] = [tree]
    while roots:
        for child in ast.iter_child_nodes(roots.pop()):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                for node in ast.walk(child):
                    yield id(node), first
            else:
                roots.append(child)


def _skipped(tree: ast.Module) -> Iterator[int]:
    """What is no code that runs, or only says how something is declared."""

    def below(*nodes: ast.AST | None) -> Iterator[int]:
        for node in nodes:
            if node is not None:
                yield from (id(each) for each in ast.walk(node))

    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from below(node.returns, *node.decorator_list)
            case ast.ClassDef():
                yield from below(*node.decorator_list, *node.keywords)
            case ast.arg() | ast.AnnAssign():
                yield from below(node.annotation)
            case ast.Subscript(value=ast.Name(id="Literal" | "Callable" | "Annotated")):
                yield from below(node)
            case ast.Expr(value=ast.Call(func=ast.Name(id="assert_never"))):
                yield from below(node)


def _replace(parent: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for name, value in ast.iter_fields(parent):
        if value is old:
            setattr(parent, name, new)
        elif isinstance(value, list):
            setattr(parent, name, [new if item is old else item for item in value])


def _description(node: ast.AST, faulty: ast.AST) -> str:
    return f"{_short(node)}  ->  {_short(faulty)}"


def _short(node: ast.AST) -> str:
    text = ast.unparse(ast.fix_missing_locations(node)).partition("\n")[0]
    return text if len(text) <= 70 else f"{text[:67]}..."
