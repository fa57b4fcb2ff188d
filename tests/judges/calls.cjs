// What each call of a TypeScript or JavaScript project means, by the compiler's own checker: node calls.cjs typescript root language
// prints [file, line, column in UTF-16, name, [[file, line of the declaration, line of its name]], whether it is outside].
const [, , compiler, folder, language] = process.argv;
const isScript = language === "javascript"; // much of it has no type: where the checker knows nothing it says nothing
const ts = require(compiler);
const path = require("path");
const root = path.resolve(folder);
const files = ts.sys.readDirectory(root, isScript ? [".js", ".mjs", ".cjs"] : [".ts", ".tsx"], ["node_modules", "**/*.d.ts"]);
const options = { target: 99, module: 99, moduleResolution: 100, allowImportingTsExtensions: true, noEmit: true, strict: true,
  skipLibCheck: true, types: [] };
if (isScript)
  Object.assign(options, { module: 1, moduleResolution: 2, allowImportingTsExtensions: false, strict: false, allowJs: true, checkJs: true });
const inside = (node) => node.getSourceFile().fileName.startsWith(root);
const program = ts.createProgram(files, options);
const checker = program.getTypeChecker();
const relative = (file) => path.relative(root, file.fileName);
const line = (file, at) => file.getLineAndCharacterOfPosition(at).line + 1;

function declarations(call, name) {
  const found = new Set();
  const signature = checker.getResolvedSignature(call);
  if (signature && signature.declaration) found.add(signature.declaration);
  let symbol = checker.getSymbolAtLocation(name);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  for (const each of (symbol && symbol.declarations) || []) found.add(each);
  return [...found];
}

function named(call) {
  let callee = call.expression;
  while (ts.isParenthesizedExpression(callee) || ts.isNonNullExpression(callee)) callee = callee.expression;
  return ts.isPropertyAccessExpression(callee) ? callee.name : ts.isIdentifier(callee) ? callee : null;
}

// A parameter or a variable that may hold anything is no definition of what runs, but for one of a module in JavaScript.
function runs(node) {
  if (isScript && ts.isVariableDeclaration(node) && ts.isSourceFile(node.parent.parent.parent)) return true;
  const value = ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node) ? node.initializer : null;
  const isType = ts.isFunctionTypeNode(node) || ts.isCallSignatureDeclaration(node) || ts.isConstructSignatureDeclaration(node);
  return ts.isClassLike(node) || (ts.isFunctionLike(node) && !isType) || (value && ts.isFunctionLike(value));
}

function places(call, name) {
  return declarations(call, name)
    .filter((each) => inside(each) && runs(each))
    .map((each) => {
      const file = each.getSourceFile();
      const holder = each.parent && ts.isVariableDeclaration(each.parent) ? each.parent : each;
      return [relative(file), line(file, each.getStart(file)), line(file, (holder.name || holder).getStart(file))];
    });
}

const out = [];
for (const name of files) {
  const file = program.getSourceFile(name);
  const visit = (node) => {
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const callee = named(node);
      if (callee) {
        const at = file.getLineAndCharacterOfPosition(callee.getStart(file));
        const declared = declarations(node, callee);
        const isOutside = !declared.some(inside) && !(isScript && !declared.length);
        out.push([relative(file), at.line + 1, at.character, callee.text, places(node, callee), isOutside]);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
}
console.log(JSON.stringify(out));
