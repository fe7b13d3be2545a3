"""TrimLogs never goes by an old catalogue: what it does not know of yet may be wanted."""

from clocked import Clocked
from hashrange.core.schema import changed
from hashrange.storage import catalogue, layout
from new_tables import request as new_table


def logged(service: Clocked) -> int:
    return len(service.engine.read(lambda reader: list(reader.scan(layout.LOG, layout.LOG_HEAD))))


def recover(service: Clocked) -> None:
    """Switch point-in-time recovery on, as an operation would."""
    stored = service.catalogue.find("000000000000", "us-east-1", "tab")
    assert stored is not None
    now = service.clock.now()
    wanted = changed(stored, pitr_since=now, version=stored.version + 1)
    service.engine.write(lambda tx: catalogue.save(tx, wanted, now))
    service.catalogue.refresh(*catalogue.address(stored))


def test_the_log_of_a_table_that_another_server_has_changed_is_kept() -> None:
    server = Clocked()
    server.call("CreateTable", **new_table("pk", TableName="tab"))
    server.settle()
    other = Clocked(server.engine, now=server.clock.now())
    recover(other)
    other.call("PutItem", TableName="tab", Item={"pk": {"S": "a"}})
    for _ in range(10):
        server.trimming.step(server.clock.now())
    assert logged(server) == 1


def test_what_nobody_may_read_any_more_goes_whoever_changed_a_table_meanwhile() -> None:
    server = Clocked()
    server.call("CreateTable", **new_table("pk", TableName="tab"))
    server.settle()
    other = Clocked(server.engine, now=server.clock.now())
    recover(other)
    other.call("PutItem", TableName="tab", Item={"pk": {"S": "a"}})
    for name in ("one", "two", "three"):
        other.call("CreateTable", **new_table("pk", TableName=name))
    server.clock.advance(36 * 24 * 3600)
    server.run_jobs()
    assert logged(server) == 0


def test_the_records_of_an_older_database_are_not_taken_over() -> None:
    """Else the follower could not notice any more that an older backup has taken the place of the database."""
    server = Clocked()
    server.call("CreateTable", **new_table("pk", TableName="tab"))
    older = server.engine.read(catalogue.stored_epoch)
    server.call("CreateTable", **new_table("pk", TableName="lost"))
    newest = server.catalogue.epoch
    server.engine.write(lambda tx: tx.put(layout.CATALOGUE_EPOCH, older))
    server.trimming.step(server.clock.now())
    assert server.catalogue.epoch == newest
