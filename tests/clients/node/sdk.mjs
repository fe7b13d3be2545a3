// The AWS SDK for JavaScript v3: low-level client, waiters, paginators and the document client.

import assert from "node:assert/strict";
import {
  BatchExecuteStatementCommand,
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ListTablesCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
  waitUntilTableNotExists,
} from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  ExecuteStatementCommand,
  GetCommand,
  NumberValue,
  paginateQuery,
  paginateScan,
  PutCommand,
  QueryCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { settings, unique } from "./settings.mjs";

const client = new DynamoDBClient(settings);
const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
const TableName = unique("sdk");
const waiting = { client, maxWaitTime: 20, minDelay: 0.1, maxDelay: 0.5 };

async function createsTable() {
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [
        { AttributeName: "pk", AttributeType: "S" },
        { AttributeName: "sk", AttributeType: "N" },
        { AttributeName: "kind", AttributeType: "S" },
        { AttributeName: "rank", AttributeType: "N" },
      ],
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      LocalSecondaryIndexes: [
        {
          IndexName: "by-rank",
          KeySchema: [
            { AttributeName: "pk", KeyType: "HASH" },
            { AttributeName: "rank", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["title"] },
        },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: "by-kind",
          KeySchema: [
            { AttributeName: "kind", KeyType: "HASH" },
            { AttributeName: "rank", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "ALL" },
        },
      ],
    }),
  );
  await waitUntilTableExists(waiting, { TableName });
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  assert.equal(Table.TableStatus, "ACTIVE");
  assert.ok(Table.CreationDateTime instanceof Date);
  const { TableNames } = await client.send(new ListTablesCommand({}));
  assert.ok(TableNames.includes(TableName));
}

async function keepsEveryType() {
  const Item = {
    pk: "types",
    sk: 1,
    text: "ünï 🐍",
    big: NumberValue.from("12345678901234567890123456789012345678"),
    bytes: new Uint8Array([0, 255]),
    yes: true,
    nothing: null,
    list: [1, "two", { three: [] }],
    texts: new Set(["b", "a"]),
    numbers: new Set([2, 1]),
    left_out: undefined,
  };
  await documents.send(new PutCommand({ TableName, Item }));
  const exact = DynamoDBDocumentClient.from(new DynamoDBClient(settings), { unmarshallOptions: { wrapNumbers: true } });
  const wrapped = await exact.send(new GetCommand({ TableName, Key: { pk: "types", sk: NumberValue.from("1") } }));
  assert.equal(wrapped.Item.big.value, "12345678901234567890123456789012345678");
  await documents.send(
    new UpdateCommand({ TableName, Key: { pk: "types", sk: 1 }, UpdateExpression: "REMOVE big" }),
  );
  const found = await documents.send(new GetCommand({ TableName, Key: { pk: "types", sk: 1 }, ConsistentRead: true }));
  assert.deepEqual(found.Item.list, Item.list);
  assert.deepEqual(found.Item.texts, new Set(["a", "b"]));
  assert.deepEqual(found.Item.bytes, Item.bytes);
  assert.equal(found.Item.nothing, null);
  assert.ok(!("left_out" in found.Item));
}

async function readsInPages() {
  for (let start = 0; start < 100; start += 25) {
    const puts = Array.from({ length: 25 }, (_, n) => ({
      PutRequest: {
        Item: { pk: "many", sk: start + n, kind: n % 2 ? "odd" : "even", rank: 100 - start - n, title: `t${n}` },
      },
    }));
    const { UnprocessedItems } = await documents.send(new BatchWriteCommand({ RequestItems: { [TableName]: puts } }));
    assert.deepEqual(UnprocessedItems, {});
  }
  const seen = [];
  const query = {
    TableName,
    IndexName: "by-kind",
    KeyConditionExpression: "#k = :k AND #r BETWEEN :low AND :high",
    ExpressionAttributeNames: { "#k": "kind", "#r": "rank" },
    ExpressionAttributeValues: { ":k": "odd", ":low": 11, ":high": 90 },
    ScanIndexForward: false,
  };
  for await (const page of paginateQuery({ client: documents, pageSize: 7 }, query)) seen.push(...page.Items);
  assert.deepEqual(seen.map((item) => item.rank), seen.map((item) => item.rank).sort((a, b) => b - a));
  const local = await documents.send(
    new QueryCommand({
      TableName,
      IndexName: "by-rank",
      KeyConditionExpression: "pk = :pk AND #r < :r",
      ExpressionAttributeNames: { "#r": "rank" },
      ExpressionAttributeValues: { ":pk": "many", ":r": 3 },
    }),
  );
  assert.deepEqual(Object.keys(local.Items[0]).sort(), ["pk", "rank", "sk", "title"]);
  let counted = 0;
  for await (const page of paginateScan({ client: documents, pageSize: 30 }, { TableName })) counted += page.Count;
  assert.equal(counted, 101);
  const Keys = [1, 2, 3].map((sk) => ({ pk: "many", sk }));
  const batch = await documents.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys } } }));
  assert.equal(batch.Responses[TableName].length, 3);
}

async function refusesWhatDoesNotHold() {
  const Item = { pk: "once", sk: 1, owner: "me" };
  const put = {
    TableName,
    Item,
    ConditionExpression: "attribute_not_exists(pk)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  };
  await documents.send(new PutCommand(put));
  await assert.rejects(documents.send(new PutCommand(put)), (error) => {
    assert.equal(error.name, "ConditionalCheckFailedException");
    assert.equal(error.Item.owner.S ?? error.Item.owner, "me");
    assert.equal(error.$metadata.httpStatusCode, 400);
    return true;
  });
  await assert.rejects(documents.send(new GetCommand({ TableName: "missing", Key: { pk: "x", sk: 1 } })), {
    name: "ResourceNotFoundException",
  });
  await assert.rejects(documents.send(new GetCommand({ TableName, Key: { pk: "x" } })), {
    name: "ValidationException",
    message: "The provided key element does not match the schema",
  });
  const gone = await documents.send(new DeleteCommand({ TableName, Key: { pk: "once", sk: 1 }, ReturnValues: "ALL_OLD" }));
  assert.deepEqual(gone.Attributes, Item);
}

async function runsTransactions() {
  const put = (sk) => ({ Put: { TableName, Item: { pk: "tx", sk } } });
  const transaction = { TransactItems: [put(1), put(2)], ClientRequestToken: unique("token").slice(-36) };
  await documents.send(new TransactWriteCommand(transaction));
  await documents.send(new TransactWriteCommand(transaction));
  const check = {
    ConditionCheck: { TableName, Key: { pk: "tx", sk: 1 }, ConditionExpression: "attribute_not_exists(pk)" },
  };
  await assert.rejects(documents.send(new TransactWriteCommand({ TransactItems: [check, put(3)] })), (error) => {
    assert.equal(error.name, "TransactionCanceledException");
    assert.deepEqual(error.CancellationReasons.map((reason) => reason.Code), ["ConditionalCheckFailed", "None"]);
    return true;
  });
  const get = (sk) => ({ Get: { TableName, Key: { pk: "tx", sk } } });
  const found = await documents.send(new TransactGetCommand({ TransactItems: [get(1), get(3)] }));
  assert.deepEqual(found.Responses.map((response) => response.Item?.sk), [1, undefined]);
}

async function runsStatements() {
  await documents.send(
    new ExecuteStatementCommand({ Statement: `INSERT INTO "${TableName}" VALUE {'pk': ?, 'sk': ?}`, Parameters: ["ql", 1] }),
  );
  const read = `SELECT * FROM "${TableName}" WHERE pk = 'ql' AND sk = 1`;
  const { Items } = await documents.send(new ExecuteStatementCommand({ Statement: read }));
  assert.deepEqual(Items, [{ pk: "ql", sk: 1 }]);
  const { Responses } = await client.send(new BatchExecuteStatementCommand({ Statements: [{ Statement: read }] }));
  assert.deepEqual(Responses[0].Item.pk, { S: "ql" });
}

async function changesTable() {
  await client.send(
    new UpdateTableCommand({
      TableName,
      AttributeDefinitions: [{ AttributeName: "title", AttributeType: "S" }],
      GlobalSecondaryIndexUpdates: [
        {
          Create: {
            IndexName: "by-title",
            KeySchema: [{ AttributeName: "title", KeyType: "HASH" }],
            Projection: { ProjectionType: "KEYS_ONLY" },
          },
        },
      ],
    }),
  );
  for (let tries = 0; tries < 200; tries += 1) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    if (Table.GlobalSecondaryIndexes.every((index) => index.IndexStatus === "ACTIVE")) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const titled = await documents.send(
    new QueryCommand({
      TableName,
      IndexName: "by-title",
      KeyConditionExpression: "title = :t",
      ExpressionAttributeValues: { ":t": "t7" },
    }),
  );
  assert.equal(titled.Count, 4);
  const TimeToLiveSpecification = { Enabled: true, AttributeName: "ttl" };
  await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  await client.send(new DeleteTableCommand({ TableName }));
  await waitUntilTableNotExists(waiting, { TableName });
}

await createsTable();
await keepsEveryType();
await readsInPages();
await refusesWhatDoesNotHold();
await runsTransactions();
await runsStatements();
await changesTable();
console.log("tour complete");
