"""Denials: refusals by policies, and why they happened, for the audit log."""

from hashrange.api.errors import ApiError
from hashrange.api.permissions.needs import Undetermined
from hashrange.auth.policy.decision import Decision, Rules
from hashrange.auth.policy.keys import KeyValue
from hashrange.auth.policy.reasons import Reasons, Recorded, reasons
from hashrange.auth.policy.refusals import refusal
from hashrange.auth.policy.statements import Asked


class AccessDenied(ApiError):
    """The refusal, with what the audit log wants to know of it."""

    def __init__(
        self,
        asked: Asked,
        decision: Decision,
        rules: Rules,
        *,
        code: str = "AccessDeniedException",
        message: str | None = None,
        status: int = 400,
    ) -> None:
        super().__init__(code, message or refusal(asked, decision), status=status)
        self.asked = asked
        self.decision = decision
        self.rules = rules

    def reasons(self) -> Reasons:
        """Why it was denied: every statement about the action is looked at, so this costs more than the decision."""
        return reasons(self.asked, self.rules, self.decision, _Determined(self.asked.keys))


class _Determined(Recorded):
    """Keys of which some cannot be told."""

    def looked_up(self, key: str) -> KeyValue | None:
        """The value; None if it cannot be told, which is noted."""
        try:
            return super().looked_up(key)
        except Undetermined:
            self.undetermined.append(key)
            return None
