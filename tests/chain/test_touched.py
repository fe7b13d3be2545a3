"""Items of batches and transactions are counted in bulk, those read apart from those written."""

from clocked import Clocked
from hashrange.chain.touched import Touched
from new_tables import request as new_table


def test_reads_and_writes_of_one_operation_stay_apart() -> None:
    service = Clocked()
    service.call("CreateTable", **new_table("pk", TableName="music"))
    service.settle()
    touched = Touched("ExecuteTransaction")
    for statement in ("INSERT INTO music VALUE {'pk': 'a'}", "SELECT * FROM music WHERE pk = 'a'"):
        _, result = service.run("ExecuteTransaction", TransactStatements=[{"Statement": statement}])
        assert touched.takes(result)
        touched.add(result, 0.5)
    groups = list(touched.take())
    assert [(group.write, list(group.units), list(group.latencies)) for group in groups] == [
        (True, [2.0], [0.5]),
        (False, [2.0], [0.5]),
    ]
    assert list(touched.take()) == []
