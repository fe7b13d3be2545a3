import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";

import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";

import { startServer } from "./hashrange.mjs";
import * as sessions from "./sessions.mjs";

let server, namespace, client;

before(async () => {
  server = await startServer();
});
after(() => server.stop());

beforeEach(async () => {
  namespace = await server.namespace();
  client = new DynamoDBClient(namespace.options);
});
afterEach(async () => {
  client.destroy();
  await namespace.clear();
});

test("a session ends after an hour", async () => {
  await sessions.createTable(client);
  await sessions.begin(client, "t", await server.now());
  await server.moveClock(59 * 60);
  assert.equal(await sessions.exists(client, "t"), true);
  await server.moveClock(2 * 60);
  assert.equal(await sessions.exists(client, "t"), false);
});

test("a test sees no table of another", async () => {
  const { TableNames } = await client.send(new ListTablesCommand({}));
  assert.deepEqual(TableNames, []);
});

test("a request that fails twice is sent again, and nothing is scanned", async () => {
  await sessions.createTable(client);
  await namespace.fail({ fault: "error", operations: ["PutItem"], times: 2 });
  await sessions.begin(client, "t", await server.now());
  const requests = await namespace.requests();
  const puts = requests.filter((request) => request.operation === "PutItem");
  assert.deepEqual(puts.map((put) => put.error), ["InternalServerError", "InternalServerError", undefined]);
  assert.deepEqual(requests.filter((request) => request.scan), []);
});
