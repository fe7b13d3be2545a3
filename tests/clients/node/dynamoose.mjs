// Dynamoose: a model that creates its own table, with indexes, conditions, batches and transactions.

import assert from "node:assert/strict";
import dynamoose from "dynamoose";
import { endpoint, settings, unique } from "./settings.mjs";

dynamoose.aws.ddb.set(new dynamoose.aws.ddb.DynamoDB(settings));
assert.ok(endpoint);
const schema = new dynamoose.Schema(
  {
    id: { type: String, hashKey: true },
    at: { type: Number, rangeKey: true },
    kind: { type: String, index: { name: "by-kind", type: "global", rangeKey: "at" } },
    score: { type: Number, index: { name: "by-score", type: "local" } },
    tags: { type: Set, schema: [String] },
    when: Date,
    nested: { type: Object, schema: { deep: { type: Array, schema: [Number] } } },
  },
  { timestamps: true },
);
const Event = dynamoose.model(unique("Event"), schema);
const table = new dynamoose.Table(unique("dynamoose"), [Event], {
  waitForActive: { enabled: true, check: { timeout: 20000, frequency: 100 } },
  throughput: "ON_DEMAND",
  initialize: false,
});
await table.initialize();

async function keepsItems() {
  const event = await Event.create({
    id: "a",
    at: 1,
    kind: "start",
    score: 7,
    tags: new Set(["x"]),
    when: new Date(0),
    nested: { deep: [1, 2] },
  });
  assert.ok(event.createdAt);
  await assert.rejects(Event.create({ id: "a", at: 1 }), { name: "ConditionalCheckFailedException" });
  await Event.update({ id: "a", at: 1 }, { $ADD: { score: 3 }, $SET: { kind: "end" }, $REMOVE: ["when"] });
  const found = await Event.get({ id: "a", at: 1 }, { consistent: true });
  assert.equal(found.score, 10);
  assert.equal(found.kind, "end");
  assert.equal(found.when, undefined);
  assert.deepEqual(found.nested.deep, [1, 2]);
  const refused = new dynamoose.Condition().where("score").gt(100);
  await assert.rejects(Event.update({ id: "a", at: 1 }, { kind: "never" }, { condition: refused }), {
    name: "ConditionalCheckFailedException",
  });
}

async function readsIndexes() {
  const many = Array.from({ length: 25 }, (_, n) => ({ id: "b", at: n, kind: n % 2 ? "odd" : "even", score: 25 - n }));
  const { unprocessedItems } = await Event.batchPut(many);
  assert.deepEqual(unprocessedItems, []);
  const odd = await Event.query("kind").eq("odd").where("at").gt(10).using("by-kind").sort("descending").exec();
  assert.deepEqual(odd.map((event) => event.at), [23, 21, 19, 17, 15, 13, 11]);
  const low = await Event.query("id").eq("b").where("score").le(3).using("by-score").exec();
  assert.deepEqual(low.map((event) => event.score), [1, 2, 3]);
  const first = await Event.query("id").eq("b").limit(10).exec();
  const second = await Event.query("id").eq("b").limit(10).startAt(first.lastKey).exec();
  assert.deepEqual([first.length, second[0].at], [10, 10]);
  const all = await Event.scan().where("id").beginsWith("b").all().exec();
  assert.equal(all.length, 25);
  const some = await Event.batchGet([1, 2, 3].map((at) => ({ id: "b", at })));
  assert.equal(some.length, 3);
}

async function runsTransactions() {
  await dynamoose.transaction([
    Event.transaction.create({ id: "t", at: 1 }),
    Event.transaction.update({ id: "a", at: 1 }, { score: 1 }),
    Event.transaction.delete({ id: "b", at: 0 }),
  ]);
  await assert.rejects(
    dynamoose.transaction([
      Event.transaction.create({ id: "t", at: 1 }),
      Event.transaction.delete({ id: "b", at: 1 }),
    ]),
    { name: "TransactionCanceledException" },
  );
  assert.ok(await Event.get({ id: "b", at: 1 }));
  assert.equal(await Event.get({ id: "b", at: 0 }), undefined);
  await Event.delete({ id: "t", at: 1 });
}

await keepsItems();
await readsIndexes();
await runsTransactions();
console.log("tour complete");
