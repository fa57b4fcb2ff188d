// A TypeScript client: `node typescript.mjs sdk|client legacy|auto ROOT COMMAND...`; prints what it saw as one JSON line.
// `sdk` is the package of the handshake era, `client` the one that knows both eras. ROOT is a project that takes a while.
const [of, era, ...command] = process.argv.slice(2);
const { Client } = await import(of === "sdk" ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client");
const { StdioClientTransport } = await import(
  of === "sdk" ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio");

const client = new Client({ name: `fledgling-${of}`, version: "1" }, of === "sdk" ? {} : { versionNegotiation: { mode: era } });
await client.connect(new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: "ignore" }));
const call = (name, args, options) => {
  const asked = { name, arguments: args };
  return of === "sdk" ? client.callTool(asked, undefined, options) : client.callTool(asked, options);
};

const progress = [];
const first = await call("symbols", { max_results: 1 }, { onprogress: (told) => progress.push(told.progress) });
const { tools } = await client.listTools();
const stop = new AbortController();
setTimeout(() => stop.abort(), 300);
let cancelled = false;
try {
  await call("query", { sql: process.env.ENDLESS }, { signal: stop.signal });
} catch {
  cancelled = stop.signal.aborted;
}
const after = await call("explore", {}, {});
console.log(JSON.stringify({
  list: tools.length,
  call: first.content[0].text.split("\n")[0],
  progress: progress.length,
  cancel: cancelled && !after.isError,
  era: client.getNegotiatedProtocolVersion?.() ?? "2025-11-25",
}));
await client.close();
