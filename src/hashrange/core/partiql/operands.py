"""What stands for a value both in conditions and in assignments: a path, a parameter or a literal."""

from hashrange.core.expressions import resolved
from hashrange.core.partiql import literals, tree
from hashrange.core.partiql.translator import MISSING_COMPARED, Translator
from hashrange.core.partiql.tree import Node


def operand(translator: Translator, node: Node) -> resolved.Path | resolved.Known:
    """The operand that a node is; refuses what can be none, whatever stands around it."""
    match node:
        case tree.Name() | tree.Path():
            return translator.path(node)
        case tree.Placeholder():
            return translator.parameter(node)
        case tree.Missing():
            raise translator.fault(MISSING_COMPARED)
        case (
            tree.Special()
            | tree.Select()
            | tree.Insert()
            | tree.Change()
            | tree.Erasure()
            | tree.Definition()
        ):
            raise translator.misplaced(node)
        case _:
            return literals.literal(translator, node)
