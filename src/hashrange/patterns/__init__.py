"""Patterns as code: what one does with DynamoDB beyond single requests, for boto3 and aioboto3, here and on AWS."""

from hashrange.patterns.errors import (
    AlreadyExists,
    BadCursor,
    ConditionFailed,
    FencedOut,
    Incomplete,
    InProgress,
    LockHeld,
    LockLost,
    NotFound,
    PatternError,
    PayloadDiffers,
    Refused,
    SagaFailed,
    SagaStuck,
    Stale,
    Taken,
    TooLarge,
    TransactionCanceled,
    WrongPhase,
)
from hashrange.patterns.retries import Retry
from hashrange.patterns.steps import Procedure
from hashrange.patterns.sync import Runner
from hashrange.patterns.tables import Span, Table, Write

__all__ = [
    "AlreadyExists",
    "BadCursor",
    "ConditionFailed",
    "FencedOut",
    "InProgress",
    "Incomplete",
    "LockHeld",
    "LockLost",
    "NotFound",
    "PatternError",
    "PayloadDiffers",
    "Procedure",
    "Refused",
    "Retry",
    "Runner",
    "SagaFailed",
    "SagaStuck",
    "Span",
    "Stale",
    "Table",
    "Taken",
    "TooLarge",
    "TransactionCanceled",
    "Write",
    "WrongPhase",
]
