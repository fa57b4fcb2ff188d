// A TypeScript client: `node typescript.mjs sdk|client legacy|auto calls|offers COMMAND...`; prints what it saw as one
// JSON line. `sdk` is the package of the handshake era, `client` the one that knows both eras.
const [of, era, what, ...command] = process.argv.slice(2);
const { Client } = await import(of === "sdk" ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client");
const { StdioClientTransport } = await import(
  of === "sdk" ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio");

const client = new Client({ name: `fledgling-${of}`, version: "1" }, of === "sdk" ? {} : { versionNegotiation: { mode: era } });
await client.connect(new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: "ignore" }));
const call = (name, args, options) => {
  const asked = { name, arguments: args };
  return of === "sdk" ? client.callTool(asked, undefined, options) : client.callTool(asked, options);
};

const calls = async () => {
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
  return {
    list: tools.length,
    call: first.content[0].text.split("\n")[0],
    progress: progress.length,
    cancel: cancelled && !after.isError,
    era: client.getNegotiatedProtocolVersion?.() ?? "2025-11-25",
  };
};

const offers = async () => {
  const { resources } = await client.listResources();
  for (const { uri } of resources) await client.readResource({ uri });
  const { resourceTemplates } = await client.listResourceTemplates();
  const templates = resourceTemplates.map(({ uriTemplate }) => uriTemplate);
  const { prompts } = await client.listPrompts();
  const prompt = await client.getPrompt({ name: "review_module", arguments: { path: "src/core/engine.py" } });
  const complete = async (ref, name, value) => (await client.complete({ ref, argument: { name, value } })).completion.values;
  return {
    resources: resources.map(({ name }) => name),
    templates,
    prompts: prompts.map(({ name }) => name),
    prompt: prompt.messages[0].content.text.split("\n")[0],
    path: await complete({ type: "ref/resource", uri: templates[0] }, "path", "src/co"),
    symbol: await complete({ type: "ref/prompt", name: "explain_symbol" }, "symbol", "process"),
  };
};

console.log(JSON.stringify(await { calls, offers }[what]()));
await client.close();
