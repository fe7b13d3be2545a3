"""Patterns as code: what one does with DynamoDB beyond single requests, for boto3 and aioboto3, here and on AWS."""

from hashrange.patterns.adjacency import AdjacencyList
from hashrange.patterns.backfill import Backfill
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
    ResultLost,
    SagaFailed,
    SagaStuck,
    Stale,
    Taken,
    TooLarge,
    TransactionCanceled,
    WrongPhase,
)
from hashrange.patterns.idempotency import Idempotency
from hashrange.patterns.large_values import LargeValue
from hashrange.patterns.leaderboard import Leaderboard
from hashrange.patterns.locks import Held, Lock
from hashrange.patterns.migration import Migration
from hashrange.patterns.outbox import Drained, Event, Outbox, OutboxConsumer, TryLater
from hashrange.patterns.pieces import BucketPieces, ItemPieces
from hashrange.patterns.progress import Progress, ProgressBar
from hashrange.patterns.retries import Retry
from hashrange.patterns.saga import Abort, Saga, SagaStep, Turn
from hashrange.patterns.sharding import ShardedWriter
from hashrange.patterns.steps import Procedure
from hashrange.patterns.sync import Runner
from hashrange.patterns.tables import Span, Table, Write
from hashrange.patterns.time_buckets import TimeBuckets
from hashrange.patterns.unique import UniqueConstraint
from hashrange.patterns.values import shard_of
from hashrange.patterns.verification import Compared, Verification
from hashrange.patterns.versions import OptimisticLock, Versioned

__all__ = [
    "Abort",
    "AdjacencyList",
    "AlreadyExists",
    "Backfill",
    "BadCursor",
    "BucketPieces",
    "Compared",
    "ConditionFailed",
    "Drained",
    "Event",
    "FencedOut",
    "Held",
    "Idempotency",
    "InProgress",
    "Incomplete",
    "ItemPieces",
    "LargeValue",
    "Leaderboard",
    "Lock",
    "LockHeld",
    "LockLost",
    "Migration",
    "NotFound",
    "OptimisticLock",
    "Outbox",
    "OutboxConsumer",
    "Page",
    "PatternError",
    "PayloadDiffers",
    "Procedure",
    "Progress",
    "ProgressBar",
    "Refused",
    "ResultLost",
    "Retry",
    "Runner",
    "Saga",
    "SagaFailed",
    "SagaStep",
    "SagaStuck",
    "ShardedCounter",
    "ShardedWriter",
    "Span",
    "Stale",
    "Table",
    "Taken",
    "TimeBuckets",
    "TooLarge",
    "TransactionCanceled",
    "TryLater",
    "Turn",
    "UniqueConstraint",
    "Verification",
    "Versioned",
    "Write",
    "WrongPhase",
    "shard_of",
]
