// connect-dynamodb, the session store of express-session: it makes its table, keeps, touches, expires and reaps sessions.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { promisify } from "node:util";
import { DescribeTableCommand, DynamoDBClient, ScanCommand, waitUntilTableExists } from "@aws-sdk/client-dynamodb";
import connect from "connect-dynamodb";
import session from "express-session";
import { settings, unique } from "./settings.mjs";

const client = new DynamoDBClient(settings);
const TableName = unique("sessions");
const Store = connect(session);
const store = new Store({ client, table: TableName, specialKeys: [{ name: "user", type: "S" }], skipThrowMissingSpecialKeys: true });
const ask = (name, ...values) => promisify(store[name].bind(store))(...values);
const cookie = (maxAge) => ({ maxAge });

async function createsTable() {
  await store.initialize();
  await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 0.1, maxDelay: 0.5 }, { TableName });
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  assert.equal(Table.ProvisionedThroughput.ReadCapacityUnits, 5);
}

async function keepsSessions() {
  const kept = { cookie: cookie(60_000), user: "ann", cart: [1, 2], text: "ü" };
  await ask("set", "one", kept);
  assert.deepEqual(await ask("get", "one"), kept);
  await ask("touch", "one", { ...kept, cookie: cookie(120_000) });
  const { Items } = await client.send(new ScanCommand({ TableName }));
  assert.deepEqual([Items.length, Items[0].user, Items[0].type], [1, { S: "ann" }, { S: "connect-session" }]);
  assert.ok(Number(Items[0].expires.N) * 1000 > Date.now() + 90_000);
  await ask("destroy", "one");
  assert.equal(await ask("get", "one"), null);
}

async function reapsSessions() {
  await ask("set", "old", { cookie: cookie(-60_000) });
  await ask("set", "new", { cookie: cookie(60_000) });
  assert.equal(await ask("get", "old"), null);
  await ask("reap");
  const { Items } = await client.send(new ScanCommand({ TableName }));
  assert.deepEqual(Items.map(({ id }) => id.S), ["sess:new"]);
}

// The middleware in a server: a visitor who brings his cookie is known again.
async function countsVisits() {
  const middleware = session({ store, secret: "tour", resave: false, saveUninitialized: false });
  const server = createServer((request, response) => {
    middleware(request, response, (problem) => {
      if (problem) throw problem;
      request.session.visits = (request.session.visits ?? 0) + 1;
      response.end(String(request.session.visits));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${server.address().port}/`;
  const first = await fetch(address);
  const headers = { cookie: first.headers.get("set-cookie").split(";")[0] };
  assert.equal(await first.text(), "1");
  assert.equal(await (await fetch(address, { headers })).text(), "2");
  assert.equal(await (await fetch(address, { headers })).text(), "3");
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

await createsTable();
await keepsSessions();
await reapsSessions();
await countsVisits();
console.log("tour complete");
