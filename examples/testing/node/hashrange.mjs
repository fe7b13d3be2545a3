// A server for a test suite, to be copied into yours: it needs `hashrange` (pip install hashrange) and nothing of npm.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const COMMAND = process.env.HASHRANGE_COMMAND ?? "hashrange";

/** Start a server in memory on a free port. It ends with this process, or with `stop`. */
export async function startServer(...flags) {
  const child = spawn(COMMAND, ["testing", ...flags], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const failed = once(child, "close").then(() => {
    throw new Error(`${COMMAND} did not start`);
  });
  const [line] = await Promise.race([once(lines, "line"), failed]);
  failed.catch(() => {}); // from now on its end is nothing to complain about
  return new Server(child, JSON.parse(line).endpoint_url);
}

class Server {
  constructor(child, endpoint) {
    this.child = child;
    this.endpoint = endpoint;
  }

  /** A namespace that no other test sees: give its options to any client of the SDK. */
  async namespace() {
    const { account_id: accountId } = await this.ask("POST", "/_hashrange/testing/namespaces");
    return new Namespace(this, accountId);
  }

  /** Move the time ahead, and wait until items have expired and whatever else was due is done. */
  async moveClock(seconds) {
    await this.ask("POST", "/_hashrange/clock", { advance_seconds: seconds });
    await this.ask("POST", "/_hashrange/testing/idle");
  }

  async now() {
    return (await this.ask("GET", "/_hashrange/clock")).epoch_seconds;
  }

  async ask(method, path, content) {
    const body = content === undefined ? undefined : JSON.stringify(content);
    const answer = await fetch(this.endpoint + path, { method, body });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return answer.json();
  }

  async stop() {
    const closed = once(this.child, "close");
    this.child.stdin.end();
    await closed;
  }
}

class Namespace {
  constructor(server, accountId) {
    this.server = server;
    this.accountId = accountId;
    this.options = {
      endpoint: server.endpoint,
      region: "us-east-1",
      credentials: { accessKeyId: accountId, secretAccessKey: "test" },
    };
  }

  /** Have requests fail: { fault: "error" | "throttle" | "conflict", operations: ["PutItem"], times: 2 }. */
  fail(rule) {
    return this.server.ask("POST", "/_hashrange/chaos", { ...rule, account_id: this.accountId });
  }

  /** What was asked so far, with what it has cost. */
  async requests() {
    const path = `/_hashrange/testing/requests?account_id=${this.accountId}`;
    return (await this.server.ask("GET", path)).requests;
  }

  clear() {
    return this.server.ask("DELETE", `/_hashrange/testing/namespaces/${this.accountId}`);
  }
}
