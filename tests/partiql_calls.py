"""Short ways to run PartiQL statements; `{t}` in a statement is the table's quoted name."""

from typing import Any

from item_tables import Item, invalid, refused

WELL_FORMED = "Statement wasn't well formed, can't be processed: "


class Statements:
    """One table, and statements on it."""

    def __init__(self, client: Any, table: str) -> None:
        self.client = client
        self.table = table

    def text(self, statement: str) -> str:
        return statement.replace("{t}", f'"{self.table}"')

    def run(self, statement: str, *parameters: Any, **more: Any) -> dict[str, Any]:
        """The whole answer."""
        if parameters:
            more["Parameters"] = list(parameters)
        answer = self.client.execute_statement(Statement=self.text(statement), **more)
        answer.pop("ResponseMetadata")
        return dict(answer)

    def items(self, statement: str, *parameters: Any, **more: Any) -> list[Item]:
        return list(self.run(statement, *parameters, **more)["Items"])

    def keys(self, where: str, *parameters: Any, name: str = "sk") -> list[str]:
        """Values of one string attribute of all the items that a WHERE clause finds."""
        return [item[name]["S"] for item in self.items(f"SELECT * FROM {{t}} WHERE {where}", *parameters)]

    def invalid(self, statement: str, *parameters: Any, **more: Any) -> str:
        """Message of the ValidationException."""
        if parameters:
            more["Parameters"] = list(parameters)
        return invalid(self.client.execute_statement, Statement=self.text(statement), **more)

    def refused(self, statement: str, *parameters: Any, **more: Any) -> tuple[str, str]:
        """Code and message of the error."""
        if parameters:
            more["Parameters"] = list(parameters)
        return refused(self.client.execute_statement, Statement=self.text(statement), **more)

    def put(self, **attributes: Any) -> None:
        """Put an item; strings stand for themselves."""
        item = {name: {"S": value} if isinstance(value, str) else value for name, value in attributes.items()}
        self.client.put_item(TableName=self.table, Item=item)

    def get(self, **key: str) -> Item | None:
        found = self.client.get_item(
            TableName=self.table,
            Key={name: {"S": value} for name, value in key.items()},
            ConsistentRead=True,
        )
        return found.get("Item")  # type: ignore[no-any-return]
