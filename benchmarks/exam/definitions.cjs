// The definitions of TypeScript files by the compiler's own parser: node definitions.cjs TYPESCRIPT FILE... prints JSON lines.
const ts = require(process.argv[2])
const { readFileSync } = require("node:fs")
const KINDS = {
  FunctionDeclaration: "function", MethodDeclaration: "method", ClassDeclaration: "class",
  InterfaceDeclaration: "interface", GetAccessor: "method", SetAccessor: "method",
}
for (const path of process.argv.slice(3)) {
  const file = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true)
  const line = (at) => file.getLineAndCharacterOfPosition(at).line + 1
  const visit = (node) => {
    const kind = KINDS[ts.SyntaxKind[node.kind]]
    if (kind && node.name && (node.body || node.members)) {
      const row = { name: node.name.getText(), path, kind, line: line(node.getStart()), end: line(node.getEnd()) }
      console.log(JSON.stringify(row))
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
}
