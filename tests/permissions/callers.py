"""A server without a wire whose callers have policies, and made-up callers."""

import json
from types import SimpleNamespace
from typing import Any

import msgspec
import orjson

from clocked import OPERATIONS, Clocked
from hashrange.api.errors import ApiError
from hashrange.api.registry import DYNAMODB
from hashrange.audit.events import Origin
from hashrange.auth.policy.documents import Kind, parse
from hashrange.auth.policy.policy import Policy
from hashrange.auth.principals import Principal, PrincipalKind
from hashrange.chain.authorize import Authorize
from hashrange.chain.executor import Call
from hashrange.chain.pipelines import Pipelines
from hashrange.services.autoscaling.registry import AUTO_SCALING
from hashrange.services.cloudwatch.registry import CLOUDWATCH
from hashrange.services.iam.registry import IAM
from hashrange.services.streams.registry import STREAMS
from hashrange.services.sts.registry import STS
from run_now import run_now

OURS, OTHERS = "000000000000", "222222222222"
# By name, and by the action that tells those of one name apart.
ALL_OPERATIONS = OPERATIONS | {
    operation.action: operation
    for service in (DYNAMODB, STREAMS, CLOUDWATCH, AUTO_SCALING, IAM, STS)
    for operation in service.operations.values()
}
DENIED = "AccessDeniedException"


def document(*statements: dict[str, Any], version: str | None = "2012-10-17") -> str:
    content: dict[str, Any] = {} if version is None else {"Version": version}
    return json.dumps({**content, "Statement": list(statements)})


def policy(*statements: dict[str, Any], kind: Kind = Kind.IDENTITY) -> Policy:
    return parse(document(*statements), kind, name="policy")


def allow(*actions: str, resource: Any = "*", **elements: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": _named(actions), "Resource": resource, **elements}


def deny(*actions: str, resource: Any = "*", **elements: Any) -> dict[str, Any]:
    return {"Effect": "Deny", "Action": _named(actions), "Resource": resource, **elements}


def _named(actions: tuple[str, ...]) -> list[str]:
    return [action if ":" in action or action == "*" else f"dynamodb:{action}" for action in actions]


def user(
    *statements: dict[str, Any], name: str = "alice", account_id: str = OURS, **members: Any
) -> Principal:
    """A user to whom these statements apply."""
    return Principal(
        account_id=account_id,
        arn=f"arn:aws:iam::{account_id}:user/{name}",
        kind=PrincipalKind.USER,
        principal_id=members.pop("principal_id", f"AIDA{name.upper()}"),
        name=name,
        identity=(policy(*statements),) if statements else (),
        **members,
    )


ADMINISTRATOR = user(allow("*"), name="admin")


class _Call(Call, gc=False):
    came_from: Origin

    def origin(self) -> Origin:
        return self.came_from


class Guarded(Clocked):
    """Operations that ask for permissions."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._pipelines = Pipelines(self.executor.run, authorize=Authorize())
        self.principal: Principal = ADMINISTRATOR
        self.origin = Origin()

    def run(self, operation: str, /, **request: Any) -> Any:
        """Run a request of the present principal."""
        context = msgspec.structs.replace(
            self.context, principal=self.principal, account_id=self.principal.account_id
        )
        pipeline = self._pipelines.of(ALL_OPERATIONS[operation])
        call = _Call(pipeline.operation, context, None, orjson.dumps(request), self.origin)
        call.decode()
        executor: Any = SimpleNamespace(run=pipeline.run)
        return call, run_now(executor, call)

    def ask(self, principal: Principal, operation: str, /, **request: Any) -> Any:
        """What the principal is answered."""
        before, self.principal = self.principal, principal
        try:
            return self.call(operation, **request)
        finally:
            self.principal = before

    def error(self, principal: Principal, operation: str, /, **request: Any) -> ApiError | None:
        """The error that the principal is answered with, if it is one."""
        try:
            self.ask(principal, operation, **request)
        except ApiError as error:
            return error
        return None

    def denies(self, principal: Principal, operation: str, /, **request: Any) -> bool:
        """Whether the principal may not do it; nothing else may be wrong with the request."""
        error = self.error(principal, operation, **request)
        if error is not None and error.code != DENIED:
            raise error
        return error is not None

    def table(self, name: str = "orders", **options: Any) -> str:
        """A table with a partition key `owner`, a sort key `id` and an index by `city`; gives its ARN."""
        self.call(
            "CreateTable",
            TableName=name,
            KeySchema=[
                {"AttributeName": "owner", "KeyType": "HASH"},
                {"AttributeName": "id", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": attribute, "AttributeType": "S"} for attribute in ("owner", "id", "city")
            ],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "by-city",
                    "KeySchema": [{"AttributeName": "city", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
            BillingMode="PAY_PER_REQUEST",
            **options,
        )
        self.clock.advance(10)
        self.run_jobs()
        arn: str = self.describe(name)["TableArn"]
        return arn
