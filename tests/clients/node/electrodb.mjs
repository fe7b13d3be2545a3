// ElectroDB: two entities in one table, collections, upserts, batches, transactions, page cursors.

import assert from "node:assert/strict";
import { CreateTableCommand, DeleteTableCommand, DynamoDBClient, waitUntilTableExists } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { Entity, Service } from "electrodb";
import { settings, unique } from "./settings.mjs";

const raw = new DynamoDBClient(settings);
const client = DynamoDBDocumentClient.from(raw);
const table = unique("electro");

const keys = ["pk", "sk", "gsi1pk", "gsi1sk"].map((AttributeName) => ({ AttributeName, AttributeType: "S" }));
const schema = (pk, sk) => [
  { AttributeName: pk, KeyType: "HASH" },
  { AttributeName: sk, KeyType: "RANGE" },
];
await raw.send(
  new CreateTableCommand({
    TableName: table,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: keys,
    KeySchema: schema("pk", "sk"),
    GlobalSecondaryIndexes: [
      { IndexName: "gsi1", KeySchema: schema("gsi1pk", "gsi1sk"), Projection: { ProjectionType: "ALL" } },
    ],
  }),
);
await waitUntilTableExists({ client: raw, maxWaitTime: 20, minDelay: 0.1, maxDelay: 0.5 }, { TableName: table });

const Employee = new Entity(
  {
    model: { entity: "employee", version: "1", service: "company" },
    attributes: {
      id: { type: "string", required: true },
      team: { type: "string", required: true },
      name: { type: "string" },
      salary: { type: "number", default: 1 },
      skills: { type: "set", items: "string" },
      address: { type: "map", properties: { city: { type: "string" } } },
      history: { type: "list", items: { type: "string" } },
    },
    indexes: {
      byId: { pk: { field: "pk", composite: ["id"] }, sk: { field: "sk", composite: [] } },
      byTeam: {
        collection: "team",
        index: "gsi1",
        pk: { field: "gsi1pk", composite: ["team"] },
        sk: { field: "gsi1sk", composite: ["id"] },
      },
    },
  },
  { client, table },
);
const Task = new Entity(
  {
    model: { entity: "task", version: "1", service: "company" },
    attributes: {
      task: { type: "string", required: true },
      team: { type: "string", required: true },
      points: { type: "number" },
    },
    indexes: {
      byTask: { pk: { field: "pk", composite: ["task"] }, sk: { field: "sk", composite: [] } },
      byTeam: {
        collection: "team",
        index: "gsi1",
        pk: { field: "gsi1pk", composite: ["team"] },
        sk: { field: "gsi1sk", composite: ["task"] },
      },
    },
  },
  { client, table },
);
const company = new Service({ employee: Employee, task: Task }, { client, table });

async function keepsItems() {
  const ann = { id: "ann", team: "red", name: "Ann", skills: ["go"], address: { city: "Oslo" }, history: [] };
  await Employee.create(ann).go();
  await assert.rejects(Employee.create(ann).go(), /conditional request failed/i);
  await Employee.patch({ id: "ann" })
    .set({ name: "Anna" })
    .add({ salary: 10, skills: ["sql"] })
    .append({ history: ["hired"] })
    .where(({ team }, { eq }) => eq(team, "red"))
    .go();
  const { data } = await Employee.get({ id: "ann" }).go({ consistent: true });
  assert.deepEqual([data.name, data.salary, data.skills.sort(), data.history], ["Anna", 11, ["go", "sql"], ["hired"]]);
  const { data: upserted } = await Employee.upsert({ id: "bob", team: "red", salary: 5 }).go({ response: "all_new" });
  assert.equal(upserted.salary, 5);
  await assert.rejects(Employee.patch({ id: "nobody" }).set({ name: "x" }).go(), /conditional request failed/i);
}

async function readsCollections() {
  const tasks = Array.from({ length: 60 }, (_, n) => ({ task: `t${String(n).padStart(2, "0")}`, team: "red", points: n }));
  const { unprocessed } = await Task.put(tasks).go({ concurrency: 2 });
  assert.deepEqual(unprocessed, []);
  const found = [];
  let cursor = null;
  do {
    const page = await Task.query.byTeam({ team: "red" }).gte({ task: "t10" }).go({ limit: 20, cursor });
    found.push(...page.data);
    ({ cursor } = page);
  } while (cursor);
  assert.equal(found.length, 50);
  const { data } = await company.collections.team({ team: "red" }).go({ pages: "all" });
  assert.equal(data.employee.length, 2);
  assert.equal(data.task.length, 60);
  const dear = await Task.scan.where(({ points }, { gt }) => gt(points, 57)).go({ pages: "all" });
  assert.equal(dear.data.length, 2);
  const batch = await Task.get(tasks.map(({ task }) => ({ task }))).go({ concurrency: 2 });
  assert.equal(batch.data.length, 60);
}

async function runsTransactions() {
  const good = await company.transaction
    .write(({ employee, task }) => [
      employee.patch({ id: "ann" }).set({ team: "blue" }).commit(),
      task.remove({ task: "t00" }).commit(),
    ])
    .go();
  assert.equal(good.canceled, false);
  const bad = await company.transaction
    .write(({ employee, task }) => [
      employee.create({ id: "ann", team: "green" }).commit({ response: "all_old" }),
      task.create({ task: "t99", team: "green" }).commit(),
    ])
    .go();
  assert.equal(bad.canceled, true);
  assert.equal(bad.data[0].code, "ConditionalCheckFailed");
  assert.equal(bad.data[0].item.team, "blue");
  const read = await company.transaction
    .get(({ employee, task }) => [employee.get({ id: "ann" }).commit(), task.get({ task: "t99" }).commit()])
    .go();
  assert.deepEqual(read.data.map(({ item }) => item?.team ?? null), ["blue", null]);
  const moved = await Employee.query.byTeam({ team: "blue" }).go();
  assert.equal(moved.data.length, 1);
}

await keepsItems();
await readsCollections();
await runsTransactions();
await raw.send(new DeleteTableCommand({ TableName: table }));
console.log("tour complete");
