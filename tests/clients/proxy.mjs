// Stands between the conformance suite and Fledgling: `node proxy.mjs PORT TARGET-PORT`, the token in TOKEN.
// The suite knows no token, and leaves a session open for each scenario, more than one agent may have: the proxy adds
// the token and ends all but the last few. Host and Origin pass, but for the proxy's own address.
import http from "node:http";

const SESSIONS = 8; // a scenario has a few at once
const [port, target] = process.argv.slice(2).map(Number);
const ours = (value) => value.replace(new RegExp(`^((?:http://)?(?:127\\.0\\.0\\.1|localhost)):${port}$`), `$1:${target}`);
const authorization = `Bearer ${process.env.TOKEN}`;
const sessions = [];

const begun = (session) => {
  sessions.push(session);
  if (sessions.length > SESSIONS) {
    const headers = { authorization, "mcp-session-id": sessions.shift() };
    http.request({ host: "127.0.0.1", port: target, path: "/mcp", method: "DELETE", headers }, (got) => got.resume()).end();
  }
};

http.createServer((asked, answer) => {
  const headers = { ...asked.headers, authorization };
  for (const name of ["host", "origin"]) if (headers[name]) headers[name] = ours(headers[name]);
  const passed = http.request({ host: "127.0.0.1", port: target, path: asked.url, method: asked.method, headers }, (got) => {
    if (got.headers["mcp-session-id"] && !asked.headers["mcp-session-id"]) begun(got.headers["mcp-session-id"]);
    answer.writeHead(got.statusCode, got.headers);
    answer.flushHeaders();
    got.pipe(answer);
  });
  passed.on("error", () => answer.destroy());
  answer.on("close", () => passed.destroy());
  asked.pipe(passed);
}).listen(port, "127.0.0.1");
