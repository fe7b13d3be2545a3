"""The faults that `make mutants` puts into the core: which there are, and that each is what it says."""

import ast
from pathlib import Path

import pytest

from house import SOURCE
from mutations import mutations

SAMPLE = '''
"""A module of 3 lines."""
LIMIT: Literal[1, 2] = 2


@cache(5)
def check(size: int, other: "int" = 4) -> bool | None:
    """Whether 1 is less than 2."""
    if size < LIMIT and not other:
        log(size)
        return True
    return None
'''


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "module.py"
    path.write_text(SAMPLE.lstrip())
    return path


def test_every_fault_of_a_small_module(module: Path) -> None:
    listed = [(mutation.line, mutation.what) for mutation in mutations(module)]
    assert sorted(listed) == [
        (2, "2  ->  1"),
        (2, "2  ->  3"),
        (6, "4  ->  3"),
        (6, "4  ->  5"),
        (8, "if size < LIMIT and (not other):  ->  if not (size < LIMIT and (not other)):"),
        (8, "not other  ->  other"),
        (8, "size < LIMIT  ->  size <= LIMIT"),
        (8, "size < LIMIT and (not other)  ->  size < LIMIT or not other"),
        (9, "log(size)  ->  pass"),
        (10, "True  ->  False"),
        (10, "return True  ->  return None"),
    ]


def test_a_fault_knows_its_function_and_changes_one_place(module: Path) -> None:
    whole = ast.unparse(ast.parse(module.read_text())).splitlines()
    for mutation in mutations(module):
        assert mutation.function == (5 if mutation.line > 2 else None)
        faulty = ast.unparse(mutation.tree()).splitlines()
        assert len([line for line, other in zip(whole, faulty, strict=True) if line != other]) == 1


@pytest.mark.slow
def test_every_module_of_the_core_compiles_with_a_fault() -> None:
    for path in (SOURCE / "core").rglob("*.py"):
        for mutation in mutations(path)[:1]:
            compile(mutation.tree(), str(path), "exec")
