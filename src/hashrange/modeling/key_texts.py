"""Key conditions of plans in words: `PK = "USER#" + ?user_id`, as short as they can be understood."""

from hashrange.modeling.conditions import name_text, operand_text
from hashrange.modeling.model import Literally
from hashrange.modeling.plans import Given, KeyCondition, KeyOperand, KeyPiece, ReadPlan, Spread


def plan_text(plan: ReadPlan) -> str:
    """All key conditions of a plan."""
    return " and ".join(condition_text(condition) for condition in (*plan.partition, *plan.sort))


def condition_text(condition: KeyCondition) -> str:
    """One of them."""
    name = name_text(condition.attribute.name)
    texts = [_operand(operand) for operand in condition.operands]
    if condition.operator == "between":
        return f"{name} between {texts[0]} and {texts[1]}"
    return f"{name} {condition.operator} {texts[0]}"


def _operand(operand: KeyOperand) -> str:
    text = "".join(_piece(piece) for piece in operand.pieces)
    return {"at": text, "end": f"{text}…", "after": f"{text}+", "before": f"{text}-"}[operand.edge]


def _piece(piece: KeyPiece) -> str:
    match piece:
        case Literally():
            return piece.text
        case Given():
            return f"{{{operand_text(piece.operand)}}}"
        case Spread():
            return (
                f"{{0…{piece.piece.shards - 1}}}"
                if piece.is_each
                else f"{{shard of {operand_text(piece.operand)}}}"
            )
