"""Read patterns, proved: asked several times of the engine, and compared with their definition each time."""

from __future__ import annotations

from collections.abc import Sequence

from hashrange.api.errors import ApiError
from hashrange.core.errors import Refused
from hashrange.modeling.data.generation import Data
from hashrange.modeling.key_texts import plan_text
from hashrange.modeling.model import Model, ReadOperation, ReadPattern
from hashrange.modeling.planning import plan_read
from hashrange.modeling.plans import ReadPlan
from hashrange.modeling.prove.answers import ReadAnswer, read_answer
from hashrange.modeling.prove.comparison import Comparison
from hashrange.modeling.prove.parameters import Parameters, parameter_sets
from hashrange.modeling.prove.private_engine import PrivateEngine
from hashrange.modeling.prove.results import ProvedRead

_FAILURES_MAX = 3  # of one pattern: those that follow say the same
_BATCHED = (ReadOperation.BATCH_GET_ITEM, ReadOperation.TRANSACT_GET_ITEMS)


def prove_read(engine: PrivateEngine, model: Model, pattern: ReadPattern, data: Data) -> ProvedRead:
    """Prove one pattern. One that the planner finds no way to serve is not asked: it has failed."""
    plan = plan_read(model, pattern)
    if not plan.served:
        return _proved(plan, [], [_with_remedy(problem.message, problem.remedy) for problem in plan.problems])
    answers: list[ReadAnswer] = []
    failures: list[str] = []
    for every in _asked(plan, parameter_sets(model, pattern, data)):
        try:
            answer = read_answer(engine, model, plan, every)
        except (ApiError, Refused, ValueError) as error:
            failures.append(f"refused: {getattr(error, 'message', None) or error}")
        else:
            answers.append(answer)
            failures += Comparison(model, plan, data, every).failures(answer)
        if len(failures) >= _FAILURES_MAX:
            break
    if not failures and not any(answer.items for answer in answers):
        failures.append("none of the made-up items is one that it asks for, so that nothing is proved")
    return _proved(plan, answers, failures)


def _asked(plan: ReadPlan, sets: list[Parameters]) -> list[Sequence[Parameters]]:
    """One set at a time, or as many as the pattern has in a batch."""
    if plan.operation not in _BATCHED:
        return [[parameters] for parameters in sets]
    size = max(plan.pattern.batch, 1)
    return [sets[at : at + size] for at in range(0, len(sets), size)]


def _with_remedy(message: str, remedy: str) -> str:
    return f"{message}; {remedy}" if remedy else message


def _proved(plan: ReadPlan, answers: list[ReadAnswer], failures: list[str]) -> ProvedRead:
    count = max(len(answers), 1)
    return ProvedRead(
        plan.pattern.id,
        plan.pattern.name or ", ".join(plan.pattern.entities),
        plan.operation.value,
        plan.table.name if plan.index is None else plan.index.name,
        plan_text(plan),
        plan.requests,
        len(answers),
        sum(answer.items_read for answer in answers) / count,
        sum(len(answer.items) for answer in answers) / count,
        sum(answer.units for answer in answers) / count,
        max((answer.pages for answer in answers), default=0),
        tuple(failures[:_FAILURES_MAX]),
    )
