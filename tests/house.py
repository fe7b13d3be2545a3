"""The repository as the tidy tests read it."""

import ast
import gc
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "hashrange"


def modules(*folders: str) -> list[Path]:
    """All Python files below these folders of the repository."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    """The module's syntax tree; it is kept, and its nodes are not looked through for garbage again and again."""
    gc.disable()
    try:
        return ast.parse(path.read_text("utf-8"))
    finally:
        gc.freeze()
        gc.enable()


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def statements(path: Path) -> list[ast.stmt]:
    """Every statement of a module, however deep; expressions, of which there are ten times as many, are left out."""
    return list(_statements(tree(path).body))


def _statements(body: Sequence[ast.AST]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.stmt):
            yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from _statements(getattr(node, field, ()))


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Every function of a module with its length in lines."""
    for node in statements(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def imports(path: Path) -> Iterator[str]:
    """The dotted names a module imports, wherever in it the import stands."""
    for node in statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
