"""Patterns as code: what one does with DynamoDB beyond single requests, for boto3 and aioboto3, here and on AWS."""

from hashrange.patterns.counters import ShardedCounter
from hashrange.patterns.cursors import Page
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
from hashrange.patterns.idempotency import Idempotency
from hashrange.patterns.locks import Held, Lock
from hashrange.patterns.retries import Retry
from hashrange.patterns.sharding import ShardedWriter
from hashrange.patterns.steps import Procedure
from hashrange.patterns.sync import Runner
from hashrange.patterns.tables import Span, Table, Write
from hashrange.patterns.unique import UniqueConstraint
from hashrange.patterns.versions import OptimisticLock, Versioned

__all__ = [
    "AlreadyExists",
    "BadCursor",
    "ConditionFailed",
    "FencedOut",
    "Held",
    "Idempotency",
    "InProgress",
    "Incomplete",
    "Lock",
    "LockHeld",
    "LockLost",
    "NotFound",
    "OptimisticLock",
    "Page",
    "PatternError",
    "PayloadDiffers",
    "Procedure",
    "Refused",
    "Retry",
    "Runner",
    "SagaFailed",
    "SagaStuck",
    "ShardedCounter",
    "ShardedWriter",
    "Span",
    "Stale",
    "Table",
    "Taken",
    "TooLarge",
    "TransactionCanceled",
    "UniqueConstraint",
    "Versioned",
    "Write",
    "WrongPhase",
]
