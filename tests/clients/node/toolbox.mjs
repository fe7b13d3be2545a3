// dynamodb-toolbox: entities with keys they compute, updates with operators, pages, batches, transactions.

import assert from "node:assert/strict";
import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import {
  $add, $append, $remove, BatchGetCommand, BatchGetRequest, BatchPutRequest, BatchWriteCommand, ConditionCheck,
  DeleteItemCommand, Entity, GetItemCommand, GetTransaction, PutItemCommand, PutTransaction, QueryCommand, ScanCommand,
  Table, UpdateItemCommand, UpdateTransaction, executeBatchGet, executeBatchWrite, executeTransactGet,
  executeTransactWrite, item, list, map, number, set, string,
} from "dynamodb-toolbox";
import { settings, unique } from "./settings.mjs";

const raw = new DynamoDBClient(settings);
const name = unique("toolbox");
const table = new Table({
  documentClient: DynamoDBDocumentClient.from(raw, { marshallOptions: { removeUndefinedValues: true } }),
  name,
  partitionKey: { name: "pk", type: "string" },
  sortKey: { name: "sk", type: "string" },
  indexes: {
    byLevel: { type: "global", partitionKey: { name: "class", type: "string" }, sortKey: { name: "level", type: "number" } },
  },
});
const Pokemon = new Entity({
  name: "POKEMON",
  table,
  schema: item({
    trainer: string().key(),
    pokemon: string().key(),
    class: string().optional(),
    level: number().default(1),
    moves: list(string()).default([]),
    types: set(string()).optional(),
    stats: map({ attack: number().optional(), speed: number().optional() }).optional(),
  }),
  computeKey: ({ trainer, pokemon }) => ({ pk: `TRAINER#${trainer}`, sk: `POKEMON#${pokemon}` }),
});
const key = (pokemon, trainer = "ash") => ({ trainer, pokemon });

async function createsTable() {
  await raw.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [["pk", "S"], ["sk", "S"], ["class", "S"], ["level", "N"]].map(
        ([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }),
      ),
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: "byLevel",
          KeySchema: [
            { AttributeName: "class", KeyType: "HASH" },
            { AttributeName: "level", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "ALL" },
        },
      ],
    }),
  );
  await waitUntilTableExists({ client: raw, maxWaitTime: 60, minDelay: 0.1, maxDelay: 0.5 }, { TableName: name });
}

async function keepsItems() {
  const pika = { ...key("pika"), types: new Set(["electric"]), stats: { attack: 3, speed: 9 } };
  const absent = { attr: "pokemon", exists: false };
  await Pokemon.build(PutItemCommand).item(pika).options({ condition: absent }).send();
  await assert.rejects(Pokemon.build(PutItemCommand).item(pika).options({ condition: absent }).send(), {
    name: "ConditionalCheckFailedException",
  });
  const { Attributes } = await Pokemon.build(UpdateItemCommand)
    .item({ ...key("pika"), level: $add(4), moves: $append(["bolt"]), types: $add(new Set(["fast"])), stats: { speed: $remove() } })
    .options({ returnValues: "ALL_NEW", condition: { attr: "level", lte: 50 } })
    .send();
  assert.deepEqual([Attributes.level, Attributes.moves, Attributes.stats], [5, ["bolt"], { attack: 3 }]);
  const { Item } = await Pokemon.build(GetItemCommand).key(key("pika")).options({ consistent: true }).send();
  assert.deepEqual(Item.types, new Set(["electric", "fast"]));
  const some = await Pokemon.build(GetItemCommand).key(key("pika")).options({ attributes: ["level"] }).send();
  assert.deepEqual(some.Item, { level: 5 });
  await Pokemon.build(DeleteItemCommand).key(key("pika")).send();
  assert.equal((await Pokemon.build(GetItemCommand).key(key("pika")).send()).Item, undefined);
}

async function readsInPages() {
  const many = Array.from({ length: 60 }, (_, level) => ({ ...key(`p${level}`, "misty"), class: `c${level % 2}`, level }));
  for (let start = 0; start < many.length; start += 25) {
    const requests = many.slice(start, start + 25).map((one) => Pokemon.build(BatchPutRequest).item(one));
    const { UnprocessedItems } = await executeBatchWrite(table.build(BatchWriteCommand).requests(...requests));
    assert.deepEqual(UnprocessedItems, {});
  }
  const levels = [];
  let exclusiveStartKey;
  do {
    const page = await table
      .build(QueryCommand)
      .query({ index: "byLevel", partition: "c1", range: { gt: 20 } })
      .entities(Pokemon)
      .options({ limit: 7, reverse: true, exclusiveStartKey })
      .send();
    levels.push(...page.Items.map(({ level }) => level));
    exclusiveStartKey = page.LastEvaluatedKey;
  } while (exclusiveStartKey);
  assert.deepEqual(levels, Array.from({ length: 20 }, (_, number) => 59 - 2 * number));
  const high = await table
    .build(ScanCommand)
    .entities(Pokemon)
    .options({ maxPages: Infinity, filters: { POKEMON: { attr: "level", between: [10, 12] } } })
    .send();
  assert.equal(high.Items.length, 3);
  const gets = [key("p1", "misty"), key("p2", "misty"), key("none")].map((one) => Pokemon.build(BatchGetRequest).key(one));
  const { Responses } = await executeBatchGet(table.build(BatchGetCommand).requests(...gets));
  assert.deepEqual(Responses[0].map((one) => one?.level), [1, 2, undefined]);
}

async function runsTransactions() {
  await executeTransactWrite(
    Pokemon.build(PutTransaction).item(key("mew")),
    Pokemon.build(UpdateTransaction).item({ ...key("p1", "misty"), level: $add(100) }),
  );
  const bad = executeTransactWrite(
    Pokemon.build(ConditionCheck).key(key("mew")).condition({ attr: "level", gt: 50 }),
    Pokemon.build(PutTransaction).item(key("never")),
  );
  await assert.rejects(bad, (error) => {
    assert.equal(error.name, "TransactionCanceledException");
    assert.deepEqual(error.CancellationReasons.map(({ Code }) => Code), ["ConditionalCheckFailed", "None"]);
    return true;
  });
  const { Responses } = await executeTransactGet(
    Pokemon.build(GetTransaction).key(key("p1", "misty")),
    Pokemon.build(GetTransaction).key(key("never")),
  );
  assert.deepEqual(Responses.map(({ Item }) => Item?.level), [101, undefined]);
}

await createsTable();
await keepsItems();
await readsInPages();
await runsTransactions();
console.log("tour complete");
