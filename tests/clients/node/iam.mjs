// The AWS SDK for JavaScript v3 with verified signatures and policies: it makes a user and a role, and is both of them.
// The administrator's key is in the environment, as the SDK looks for it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Agent } from "node:https";
import { CreateTableCommand, DeleteTableCommand, DynamoDB, waitUntilTableExists } from "@aws-sdk/client-dynamodb";
import { IAM } from "@aws-sdk/client-iam";
import { STS } from "@aws-sdk/client-sts";
import { fromEnv, fromTemporaryCredentials } from "@aws-sdk/credential-providers";
import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { endpoint, unique } from "./settings.mjs";

const certificate = process.env.TOUR_CLIENT_CERT;
const requestHandler = certificate && {
  httpsAgent: new Agent({
    cert: readFileSync(certificate),
    key: readFileSync(process.env.TOUR_CLIENT_KEY),
    ca: readFileSync(process.env.NODE_EXTRA_CA_CERTS),
  }),
};
const reach = { endpoint, region: "us-east-1", maxAttempts: 1, ...(requestHandler && { requestHandler }) };
const admin = { ...reach, credentials: fromEnv() };
const iam = new IAM(admin);
const name = unique("js");
const table = unique("notes");
const { Account } = await new STS(admin).getCallerIdentity({});
const tableArn = `arn:aws:dynamodb:us-east-1:${Account}:table/${table}`;
const policy = (...statements) => JSON.stringify({ Version: "2012-10-17", Statement: statements });
const denied = (action) => (error) =>
  error.name === "AccessDeniedException" && error.message.includes(`is not authorized to perform: dynamodb:${action} on`);

async function makesIdentities() {
  await iam.createUser({ UserName: name });
  const { AccessKey } = await iam.createAccessKey({ UserName: name });
  const { Role } = await iam.createRole({
    RoleName: name,
    AssumeRolePolicyDocument: policy({
      Effect: "Allow",
      Principal: { AWS: `arn:aws:iam::${Account}:user/${name}` },
      Action: "sts:AssumeRole",
    }),
  });
  await iam.putRolePolicy({
    RoleName: name,
    PolicyName: "own-partition",
    PolicyDocument: policy({
      Effect: "Allow",
      Action: ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"],
      Resource: tableArn,
      Condition: { "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": ["mine"] } },
    }),
  });
  const user = { accessKeyId: AccessKey.AccessKeyId, secretAccessKey: AccessKey.SecretAccessKey };
  return { user, role: Role.Arn };
}

async function makesTable() {
  const client = new DynamoDB(admin);
  const key = [
    { AttributeName: "pk", KeyType: "HASH" },
    { AttributeName: "sk", KeyType: "RANGE" },
  ];
  const AttributeDefinitions = key.map(({ AttributeName }) => ({ AttributeName, AttributeType: "S" }));
  await client.send(
    new CreateTableCommand({ TableName: table, KeySchema: key, AttributeDefinitions, BillingMode: "PAY_PER_REQUEST" }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 0.1, maxDelay: 0.5 }, { TableName: table });
}

async function isTheRole({ user, role }) {
  const credentials = fromTemporaryCredentials({
    masterCredentials: user,
    params: { RoleArn: role, RoleSessionName: "tour", DurationSeconds: 900 },
    clientConfig: reach,
  });
  const caller = await new STS({ ...reach, credentials }).getCallerIdentity({});
  assert.equal(caller.Arn, `arn:aws:sts::${Account}:assumed-role/${name}/tour`);
  const documents = DynamoDBDocument.from(new DynamoDB({ ...reach, credentials }));
  await documents.put({ TableName: table, Item: { pk: "mine", sk: "ü 1", tags: new Set(["a", "b"]) } });
  const { Item } = await documents.get({ TableName: table, Key: { pk: "mine", sk: "ü 1" } });
  assert.deepEqual(Item.tags, new Set(["a", "b"]));
  const query = (pk) =>
    documents.query({ TableName: table, KeyConditionExpression: "pk = :pk", ExpressionAttributeValues: { ":pk": pk } });
  assert.equal((await query("mine")).Count, 1);
  await assert.rejects(query("theirs"), denied("Query"));
  await assert.rejects(documents.put({ TableName: table, Item: { pk: "theirs", sk: "1" } }), denied("PutItem"));
  await assert.rejects(documents.scan({ TableName: table }), denied("Scan"));
}

async function isTheUser({ user }) {
  const own = DynamoDBDocument.from(new DynamoDB({ ...reach, credentials: user }));
  await assert.rejects(own.get({ TableName: table, Key: { pk: "mine", sk: "1" } }), denied("GetItem"));
  const stranger = new DynamoDB({ ...reach, credentials: { ...user, secretAccessKey: "another" } });
  await assert.rejects(stranger.listTables({}), { name: "InvalidSignatureException" });
}

async function removesThem({ user }) {
  await iam.deleteRolePolicy({ RoleName: name, PolicyName: "own-partition" });
  await iam.deleteRole({ RoleName: name });
  await iam.deleteAccessKey({ UserName: name, AccessKeyId: user.accessKeyId });
  await iam.deleteUser({ UserName: name });
  await assert.rejects(iam.getUser({ UserName: name }), { name: "NoSuchEntityException" });
  await new DynamoDB(admin).send(new DeleteTableCommand({ TableName: table }));
}

const identities = await makesIdentities();
await makesTable();
await isTheRole(identities);
await isTheUser(identities);
await removesThem(identities);
console.log("tour complete");
