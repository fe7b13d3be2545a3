// The application: sessions that end after an hour.

import { CreateTableCommand, GetItemCommand, PutItemCommand, UpdateTimeToLiveCommand } from "@aws-sdk/client-dynamodb";

const TableName = "sessions";

export async function createTable(client) {
  await client.send(
    new CreateTableCommand({
      TableName,
      KeySchema: [{ AttributeName: "token", KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName: "token", AttributeType: "S" }],
      BillingMode: "PAY_PER_REQUEST",
    }),
  );
  const TimeToLiveSpecification = { Enabled: true, AttributeName: "expires" };
  await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
}

export async function begin(client, token, now) {
  const expires = { N: String(Math.floor(now) + 3600) };
  await client.send(new PutItemCommand({ TableName, Item: { token: { S: token }, expires } }));
}

export async function exists(client, token) {
  const { Item } = await client.send(new GetItemCommand({ TableName, Key: { token: { S: token } } }));
  return Item !== undefined;
}
