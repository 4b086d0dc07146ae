// Calls tools with the official client, one after the other, and prints what came of it as JSON:
//   node client.mjs http URL TOKEN [TOOL ARGUMENTS]...
//   node client.mjs stdio PROGRAM [TOOL ARGUMENTS]...
// The program is started as `PROGRAM mcp`, in this folder and with these variables.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [kind, ...rest] = process.argv.slice(2);
let transport;
let calls;
if (kind === "http") {
  const [url, token, ...all] = rest;
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
  calls = all;
} else {
  const [command, ...all] = rest;
  transport = new StdioClientTransport({ command, args: ["mcp"], env: process.env, stderr: "inherit" });
  calls = all;
}
const client = new Client({ name: "muninn-test", version: "1.0.0" });
await client.connect(transport);
const outcome = {
  server: client.getServerVersion(),
  instructions: client.getInstructions(),
  tools: (await client.listTools()).tools,
  results: [],
};
for (let at = 0; at + 1 < calls.length; at += 2) {
  const call = { name: calls[at], arguments: JSON.parse(calls[at + 1]) };
  outcome.results.push(await client.callTool(call, undefined, { timeout: 120_000 }));
}
await client.close();
console.log(JSON.stringify(outcome));
