"""Operations of IAM on data that no server is running on: the same operations that a server has, without one."""

import json

import msgspec

from hashrange import migrate
from hashrange.api.context import Context
from hashrange.api.items.prepared import PreparedRequests
from hashrange.api.protocol.plan import Answer, Plan, Write
from hashrange.api.results import Described
from hashrange.auth import arns
from hashrange.clock import SystemClock
from hashrange.config import Settings
from hashrange.core.schema import TABLE_POLICY
from hashrange.iam_operations import Content
from hashrange.page_keys import unlock_pages
from hashrange.services.iam.bootstrap import bootstrap
from hashrange.services.iam.registry import IAM
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.directory import Directory
from hashrange.storage.engine import Engine
from hashrange.storage.job_rows import JobPlace
from hashrange.storage.sqlite import SqliteEngine
from hashrange.vaults import open_keys


class _NoBackups:
    """Stands for the files of backups, which identities have nothing to do with."""

    def fault(self, _place: JobPlace, /) -> str | None:
        """Nothing is looked at."""
        return None


class IamStore:
    """The identities of one account."""

    def __init__(self, settings: Settings, account_id: str) -> None:
        self._engine = _opened(settings)
        try:
            self._engine, keys, *_ = open_keys(settings.root_key, self._engine)
            self._context = Context(
                catalogue=Catalogue(self._engine),
                clock=SystemClock(),
                settings=settings,
                region=settings.region,
                account_id=account_id,
                access_key="",
                prepared=PreparedRequests(),
                backups=_NoBackups(),
                directory=Directory(self._engine, keys),
            )
        except BaseException:
            self._engine.close()
            raise

    def close(self) -> None:
        """Release the data."""
        self._engine.close()

    def ask(self, name: str, request: Content) -> Content:
        """Carry out an operation; raises the errors that a client would be told."""
        operation = IAM.operations[name]
        sent = {member: value for member, value in request.items() if value is not None}
        return self._done(operation.handler(self._context, operation.shape.explain(sent)))

    def account_id(self) -> str:
        """The account."""
        return self._context.account_id

    def resource_policy(self, arn: str, region: str) -> str | None:
        """The policy of a table or stream; None if there is none."""
        parts = arns.parsed(arn)
        if parts is None:
            return None
        name, _, rest = parts.resource.removeprefix("table/").partition("/")
        table = self._context.catalogue.find(parts.account_id, region, name)
        label = rest.removeprefix("stream/") if rest.startswith("stream/") else TABLE_POLICY
        stored = None if table is None else table.policies.get(label)
        return None if stored is None else stored.document

    def bootstrap(self) -> Content:
        """Make the first administrator's key."""
        return self._done(bootstrap(self._context))

    def _done(self, plan: Plan) -> Content:
        if isinstance(plan, Answer):
            result = plan.result
        elif isinstance(plan, Write):
            result = self._engine.write(plan.step)
        else:
            result = self._engine.read(plan.step)
        if not isinstance(result, Described) or result.body is None:
            return {}
        content: Content = json.loads(msgspec.json.encode(result.body))
        return content


def _opened(settings: Settings) -> Engine:
    if settings.engine != "sqlite":
        return migrate.open_postgres(settings.engine, create=True)
    unlock_pages(settings.data_dir, settings.root_key)
    return SqliteEngine.open(settings.data_dir)
