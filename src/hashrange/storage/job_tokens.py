"""Client tokens of long jobs: a request that is sent again within eight hours gets the job of the first one."""

import hashlib

import msgspec

from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.job_rows import JobPlace, JobRows

TOKEN_SECONDS = 8 * 3600


class JobToken(msgspec.Struct, frozen=True):
    """The job that a token stands for."""

    job_id: str
    digest: bytes  # of what must be the same in the repeated request
    expires_at: float


JOB_TOKENS = JobRows("token", JobToken)


def find(reader: Reader, kind: str, place: JobPlace, token: str, now: float) -> JobToken | None:
    """The job that was begun with this token; the place says in which region."""
    stored = JOB_TOKENS.find(reader, _place(kind, place, token))
    return None if stored is None or stored.expires_at <= now else stored


def save(tx: Transaction, kind: str, place: JobPlace, token: str, *, digest: bytes, now: float) -> None:
    """Remember the token of a new job."""
    row = JobToken(place.id, digest, now + TOKEN_SECONDS)
    JOB_TOKENS.save(tx, _place(kind, place, token), row, active=False)


def _place(kind: str, place: JobPlace, token: str) -> JobPlace:
    """A token may have any characters and any length, a row's key may not."""
    return place._replace(id=f"{kind}-{hashlib.sha256(token.encode('utf-8', 'surrogatepass')).hexdigest()}")
