// What parse5 and postcss find: [name, kind, first line, last line] of ids and headings, selectors and variables.
// Usage: node documents.cjs node_modules < paths; a line of JSON for each path, null where it does not parse.
const fs = require("fs");
const path = require("path");

const load = (name) => require(path.join(process.argv[2], name));
const { parse } = load("parse5");
const parsers = { ".css": load("postcss").parse, ".scss": load("postcss-scss").parse, ".less": load("postcss-less").parse };
const selectors = load("postcss-selector-parser");

function html(text) {
  const found = [];
  const content = (node) => (node.nodeName === "#text" ? node.value : (node.childNodes || []).map(content).join(""));
  const visit = (node) => {
    const place = node.sourceCodeLocation;
    if (place && node.attrs) {
      const first = (place.startTag || place).startLine;
      const id = node.attrs.find((attribute) => attribute.name === "id");
      if (id && id.value) found.push(["#" + id.value, "selector", first, place.endLine]);
      if (/^h[1-6]$/.test(node.tagName)) found.push([content(node).trim().split(/\s+/).join(" "), "section", first, 0]);
    }
    for (const child of [...(node.childNodes || []), ...(node.content ? [node.content] : [])]) visit(child);
  };
  visit(parse(text, { sourceCodeLocationInfo: true, scriptingEnabled: false }));
  return found;
}

function isNot(node) {
  return node && ((node.type === "pseudo" && node.value === ":not") || isNot(node.parent));
}

function names(selector) {
  const found = new Set();
  selectors((root) =>
    root.walk((node) => {
      if (["class", "id"].includes(node.type) && !isNot(node)) found.add((node.type === "id" ? "#" : ".") + node.value);
    }),
  ).processSync(selector);
  return found;
}

function stylesheet(text, extension) {
  const found = [];
  const variables = new Set();
  const variable = (node) => {
    if (/[#@]\{/.test(node.prop)) return;
    if (!variables.has(node.prop)) found.push([node.prop, "variable", node.source.start.line, node.source.end.line]);
    variables.add(node.prop);
  };
  parsers[extension](text).walk((node) => {
    const lines = [node.source.start.line, node.source.end.line];
    const inKeyframes = node.parent.type === "atrule" && /keyframes$/i.test(node.parent.name);
    if (node.type === "rule" && !inKeyframes && !/[#@]\{|&[\w-]|[%(]/.test(node.selector.replace(/:[\w-]+\([^()]*\)/g, ""))) {
      for (const name of names(node.selector)) found.push([name, "selector", ...lines]);
    } else if (node.type === "rule" && !inKeyframes) {
      found.push([null, "selector", ...lines]);
    } else if (node.type === "atrule" && node.nodes && /^(-\w+-)?keyframes$/i.test(node.name)) {
      if (!/["'@#{]/.test(node.params)) found.push([node.params.trim(), "macro", ...lines]);
    } else if (node.type === "atrule" && ["mixin", "function"].includes(node.name) && extension === ".scss") {
      found.push([node.params.match(/^[\w-]+/)[0], node.name === "mixin" ? "macro" : "function", ...lines]);
    } else if (node.type === "atrule" && node.variable && node.parent.type === "root" && typeof node.value === "string") {
      variable({ prop: "@" + node.name, source: node.source });
    } else if (node.type === "decl" && node.prop.startsWith("--") && node.parent.selector?.includes(":root")) {
      variable(node);
    } else if (node.type === "decl" && node.prop.startsWith("$") && node.parent.type === "root") {
      variable(node);
    }
  });
  return found;
}

for (const file of fs.readFileSync(0, "utf8").split("\n")) {
  const text = fs.readFileSync(file, "utf8").replace(/\r\n/g, "\n");
  const extension = path.extname(file);
  try {
    console.log(JSON.stringify(extension === ".html" ? html(text) : stylesheet(text, extension)));
  } catch {
    console.log("null");
  }
}
