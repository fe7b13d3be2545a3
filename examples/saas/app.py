"""Software for many customers: whatever a tenant reads or writes has a key that begins with the tenant."""

from collections.abc import Iterator
from typing import Any

from hashrange import patterns

TABLE = patterns.Table("saas", partition_key="PK", sort_key="SK")
NEW, THERE = "attribute_not_exists(#PK)", "attribute_exists(#PK)"
Item = dict[str, Any]


class NotAdded(Exception):
    """The address is somebody's already, of whatever tenant, or there is no seat left."""


class Accounts:
    """What the operator does: it reaches all tenants, and tenants do not reach it."""

    def __init__(self, client: Any) -> None:
        self._runner = patterns.Runner(client)

    def sign_up(self, tenant_id: str, title: str, seats: int) -> None:
        tenant = {**_tenant(tenant_id), "tenant_id": tenant_id, "title": title}
        paid = {**_seats(tenant_id), "tenant_id": tenant_id, "seats": seats, "taken": 0}
        self._runner.run(TABLE.transact([TABLE.putting(tenant, NEW), TABLE.putting(paid, NEW)]))

    def add_member(self, tenant_id: str, user_id: str, email: str) -> None:
        """Take a seat and the address, and write the member: all of it or nothing."""
        email = email.lower()
        ids = {"tenant_id": tenant_id, "user_id": user_id, "email": email}
        seat = TABLE.updating(_seats(tenant_id), "SET #taken = #taken + :one", "#taken < #seats", one=1)
        member = TABLE.putting({**_member(tenant_id, user_id), **ids}, NEW)
        address = TABLE.putting({**_address(email), **ids}, NEW)
        try:
            self._runner.run(TABLE.transact([seat, address, member], token=f"{tenant_id} {user_id} {email}"))
        except patterns.TransactionCanceled as canceled:
            if self.who(email) == (tenant_id, user_id):
                return  # it was done before, longer ago than a token is remembered
            raise NotAdded("no seat" if 0 in canceled.failed else "address taken") from canceled

    def remove_member(self, tenant_id: str, user_id: str, email: str) -> bool:
        """Give the seat and the address back; False if there is no such member."""
        writes = [
            TABLE.deleting(_member(tenant_id, user_id), "#email = :email", email=email.lower()),
            TABLE.deleting(_address(email.lower())),
            TABLE.updating(_seats(tenant_id), "SET #taken = #taken - :one", "#taken > :zero", one=1, zero=0),
        ]
        try:
            self._runner.run(TABLE.transact(writes))
        except patterns.TransactionCanceled:
            return False
        return True

    def who(self, email: str) -> tuple[str, str] | None:
        """The tenant and the member that somebody signs in as."""
        found = self._runner.run(TABLE.get(_address(email.lower())))
        return None if found is None else (found["tenant_id"], found["user_id"])


class Workspace:
    """What the members of one tenant do. The client may have the tenant's own credentials: see policy.json."""

    def __init__(self, client: Any, tenant_id: str) -> None:
        self._client = client
        self._runner = patterns.Runner(client)
        self._tenant_id, self._key = tenant_id, f"TENANT#{tenant_id}"

    def members(self) -> list[str]:
        page = self._runner.run(TABLE.query(self._key, patterns.Span("USER#", "USER#~"), limit=100))
        return [member["email"] for member in page.items]

    def open_project(self, project_id: str, title: str) -> None:
        ids = {"tenant_id": self._tenant_id, "project_id": project_id}
        there = TABLE.checking(_tenant(self._tenant_id), THERE)
        put = TABLE.putting({**self._project(project_id), **ids, "title": title}, NEW)
        self._runner.run(TABLE.transact([there, put], token=f"{self._tenant_id} project {project_id}"))

    def projects(self) -> list[Item]:
        """The newest first: their ids begin with the time."""
        span = patterns.Span("PROJECT#", "PROJECT#~", forward=False)
        return self._runner.run(TABLE.query(self._key, span, limit=20)).items

    def assign(self, project_id: str, task_id: str, title: str, assignee: str, due: str) -> None:
        """A new task for a member of this tenant: one of another is not found under its key."""
        ids = {"tenant_id": self._tenant_id, "project_id": project_id, "task_id": task_id}
        index = {"GSI1PK": f"{self._key}#USER#{assignee}", "GSI1SK": f"{due}#{task_id}"}
        task = {**self._task(project_id, task_id), **index, **ids, "status": "OPEN", "due": due}
        task |= {"title": title, "assignee": assignee}
        writes = [
            TABLE.checking(self._project(project_id), THERE),
            TABLE.checking(_member(self._tenant_id, assignee), THERE),
            TABLE.putting(task, NEW),
        ]
        self._runner.run(TABLE.transact(writes, token=f"{self._tenant_id} task {task_id}"))

    def done(self, project_id: str, task_id: str) -> bool:
        """Finish a task; without its index keys it is in nobody's list any more."""
        task, update = self._task(project_id, task_id), "SET #status = :done REMOVE #GSI1PK, #GSI1SK"
        write = TABLE.updating(task, update, "attribute_exists(#PK) AND #status <> :done", done="DONE")
        return self._runner.run(TABLE.tried(write)) is None

    def to_do(self, user_id: str) -> list[str]:
        """What a member has to do, the most urgent first."""
        answer = self._client.query(
            TableName=TABLE.name,
            IndexName="GSI1",
            KeyConditionExpression="GSI1PK = :member",
            ExpressionAttributeValues={":member": {"S": f"{self._key}#USER#{user_id}"}},
            Limit=50,
        )
        return [item["title"]["S"] for item in answer["Items"]]

    def _project(self, project_id: str) -> Item:
        return TABLE.key(self._key, f"PROJECT#{project_id}")

    def _task(self, project_id: str, task_id: str) -> Item:
        return TABLE.key(f"{self._key}#PROJECT#{project_id}", f"TASK#{task_id}")


def _tenant(tenant_id: str) -> Item:
    return TABLE.key(f"TENANT#{tenant_id}", "TENANT")


def _seats(tenant_id: str) -> Item:
    return TABLE.key(f"SEATS#{tenant_id}", "SEATS")


def _member(tenant_id: str, user_id: str) -> Item:
    return TABLE.key(f"TENANT#{tenant_id}", f"USER#{user_id}")


def _address(email: str) -> Item:
    return TABLE.key(f"EMAIL#{email}", "EMAIL")


def demonstrate(client: Any) -> Iterator[str]:
    """Two tenants, one of which has something to do."""
    accounts = Accounts(client)
    for tenant_id in ("red", "blue"):
        accounts.sign_up(tenant_id, tenant_id.title(), seats=2)
    accounts.add_member("red", "ann", "Ann@example.com")
    yield f"ann@example.com is of {accounts.who('ann@example.com')[0]}"
    red = Workspace(client, "red")
    red.open_project("01", "Paint the fence")
    red.assign("01", "02", "second coat", "ann", "2026-06-02")
    red.assign("01", "01", "first coat", "ann", "2026-06-01")
    yield f"Ann has to do: {', '.join(red.to_do('ann'))}"
    red.done("01", "01")
    yield f"then: {', '.join(red.to_do('ann'))}; {len(Workspace(client, 'blue').members())} members of Blue"
