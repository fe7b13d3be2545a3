// OneTable: it creates its table, keeps two models in it, pages, batches, transactions, unique attributes, typed errors.

import assert from "node:assert/strict";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { Table } from "dynamodb-onetable";
import { Dynamo } from "dynamodb-onetable/Dynamo";
import { settings, unique } from "./settings.mjs";

const schema = {
  format: "onetable:1.1.0",
  version: "0.0.1",
  indexes: {
    primary: { hash: "pk", sort: "sk" },
    gs1: { hash: "gs1pk", sort: "gs1sk", project: "all" },
  },
  models: {
    Account: {
      pk: { type: String, value: "account#${name}" },
      sk: { type: String, value: "account#" },
      name: { type: String, required: true, unique: true },
      balance: { type: Number, default: 0 },
    },
    User: {
      pk: { type: String, value: "account#${account}" },
      sk: { type: String, value: "user#${email}" },
      gs1pk: { type: String, value: "user#" },
      gs1sk: { type: String, value: "user#${email}" },
      account: { type: String, required: true },
      email: { type: String, required: true },
      age: { type: Number },
      joined: { type: Date },
      tags: { type: Set },
      photo: { type: "binary" },
      address: { type: Object, schema: { city: { type: String }, zip: { type: String } } },
      groups: { type: Array, items: { type: String } },
    },
  },
  params: { isoDates: true, timestamps: true },
};
const table = new Table({
  client: new Dynamo({ client: new DynamoDBClient(settings) }),
  name: unique("onetable"),
  schema,
  partial: true,
  logger: false,
});
const Account = table.getModel("Account");
const User = table.getModel("User");

async function createsTable() {
  assert.equal(await table.exists(), false);
  await table.createTable();
  for (let tries = 0; tries < 300 && (await table.describeTable()).Table.TableStatus !== "ACTIVE"; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal(await table.exists(), true);
}

async function keepsItems() {
  const joined = new Date(86_400_000);
  const user = {
    account: "acme",
    email: "a@x",
    age: 7,
    joined,
    tags: new Set(["x", "y"]),
    photo: Buffer.from([0, 1, 255]),
    address: { city: "Oslo", zip: "1" },
    groups: ["one"],
  };
  await User.create(user);
  await assert.rejects(User.create(user), { name: "OneTableError", code: "ConditionalCheckFailedException" });
  const found = await User.get({ account: "acme", email: "a@x" }, { consistent: true });
  assert.deepEqual([found.age, found.joined, found.tags], [7, joined, new Set(["x", "y"])]);
  assert.deepEqual(Buffer.from(found.photo), user.photo);
  const changed = await User.update(
    { account: "acme", email: "a@x", address: { zip: "2" } },
    { add: { age: 3 }, push: { groups: ["two"] }, delete: { tags: new Set(["x"]) }, where: "${age} = {7}" },
  );
  assert.deepEqual([changed.age, changed.groups, changed.tags], [10, ["one", "two"], new Set(["y"])]);
  assert.deepEqual(changed.address, { city: "Oslo", zip: "2" });
  await assert.rejects(
    User.update({ account: "acme", email: "a@x", age: 1 }, { where: "${age} > {100}", throw: true }),
    { code: "ConditionalCheckFailedException" },
  );
  assert.equal(await User.get({ account: "acme", email: "nobody" }), undefined);
}

async function keepsAttributesUnique() {
  await Account.create({ name: "acme", balance: 5 });
  await assert.rejects(Account.create({ name: "acme" }), { name: "OneTableError", code: "UniqueError" });
  assert.equal((await Account.get({ name: "acme" })).balance, 5);
}

async function readsInPages() {
  const batch = {};
  for (let number = 0; number < 25; number += 1) {
    await User.create({ account: "big", email: `u${String(number).padStart(2, "0")}`, age: number }, { batch });
  }
  await table.batchWrite(batch);
  const found = [];
  let next;
  do {
    const page = await User.find({ account: "big", sk: { begins: "user#u" } }, { limit: 7, next });
    found.push(...page);
    ({ next } = page);
  } while (next);
  assert.deepEqual(found.map((user) => user.age), Array.from({ length: 25 }, (_, number) => number));
  const backwards = await User.find({ account: "big" }, { reverse: true, limit: 1 });
  assert.equal(backwards[0].age, 24);
  const everyone = await User.find({}, { index: "gs1" });
  assert.equal(everyone.length, 26);
  const old = await User.scan({}, { where: "${age} >= {20}" });
  assert.equal(old.length, 5);
  assert.equal((await User.find({ account: "big" }, { count: true })).count, 25);
}

async function runsTransactions() {
  const good = {};
  await Account.update({ name: "acme" }, { add: { balance: 1 }, transaction: good });
  await User.remove({ account: "big", email: "u00" }, { transaction: good });
  await table.transact("write", good);
  assert.equal((await Account.get({ name: "acme" })).balance, 6);
  const bad = {};
  await User.create({ account: "big", email: "u01" }, { transaction: bad });
  await User.remove({ account: "big", email: "u02" }, { transaction: bad });
  await assert.rejects(table.transact("write", bad), { code: "TransactionCanceledException" });
  assert.ok(await User.get({ account: "big", email: "u02" }));
}

await createsTable();
await keepsItems();
await keepsAttributesUnique();
await readsInPages();
await runsTransactions();
await table.deleteTable("DeleteTableForever");
console.log("tour complete");
