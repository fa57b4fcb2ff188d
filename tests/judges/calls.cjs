// What each call of a TypeScript or JavaScript project means, by the compiler's own checker: node calls.cjs typescript root language
// prints [file, line, column in UTF-16, name, [[file, line of the declaration, line of its name]], whether it is outside, and
// like the fifth what else may run: the functions that it is handed, and what implements the member that is declared, and
// whether that member is given a parameter somewhere, so that the checker does not know what runs].
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
  for (const each of signature && signature.declaration ? running(signature.declaration) : []) found.add(each);
  const symbol = checker.getSymbolAtLocation(name);
  if (["apply", "call"].includes(name.text) && ts.isPropertyAccessExpression(name.parent) && !defining(symbol).some(inside)) {
    const isReflect = name.parent.expression.getText() === "Reflect"; // Reflect.apply(f, a, b) runs f, and so does f.call(a)
    for (const each of isReflect ? call.arguments.slice(0, 1).flatMap(functions) : functions(name.parent.expression)) found.add(each);
  }
  for (const each of defining(symbol)) {
    found.add(each);
    if (ts.isShorthandPropertyAssignment(each)) // { a } has the variable a
      for (const value of defining(checker.getShorthandAssignmentValueSymbol(each))) found.add(value);
  }
  return [...found];
}

// A signature, and what runs by it: of a function with several the one with a body, of a constructor its class too.
function running(signature) {
  const bodies = ((signature.symbol && signature.symbol.declarations) || []).filter((each) => each.body);
  return [signature, ...(ts.isConstructorDeclaration(signature) ? [signature.parent] : []), ...bodies];
}

// What a symbol stands for; a variable that holds a module, `const a = require("b")`, is one besides.
function defining(symbol) {
  const isAlias = symbol && symbol.flags & ts.SymbolFlags.Alias;
  const meant = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
  const holding = isAlias && isScript ? (symbol.declarations || []).filter(ts.isVariableDeclaration) : [];
  return [...holding, ...((meant && meant.declarations) || [])];
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

function placed(each) {
  const file = each.getSourceFile();
  const holder = each.parent && ts.isVariableDeclaration(each.parent) ? each.parent : each;
  return [relative(file), line(file, each.getStart(file)), line(file, (holder.name || holder).getStart(file))];
}

const places = (call, name) => declarations(call, name).filter((each) => inside(each) && runs(each)).map(placed);

// The functions that an expression is or names.
function functions(value) {
  if (ts.isFunctionLike(value)) return [value];
  if (!ts.isIdentifier(value) && !ts.isPropertyAccessExpression(value)) return [];
  let symbol = checker.getSymbolAtLocation(value);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  return ((symbol && symbol.declarations) || []).filter((each) => inside(each) && runs(each));
}

const implementing = new Map(); // by declaration of a member, what may run in its place
const open = new Set(); // the declarations of members that are given a parameter

function implement(declared, values) {
  for (const each of (declared && declared.declarations) || []) {
    const known = implementing.get(each) || new Set();
    for (const value of values) if (value !== each) known.add(value);
    implementing.set(each, known);
  }
}

function noteImplementing(node) {
  if (ts.isParameter(node) && ts.isParameterPropertyDeclaration(node, node.parent)) open.add(node);
  else if (ts.isClassLike(node) || ts.isInterfaceDeclaration(node)) {
    const above = (node.heritageClauses || []).flatMap((clause) => clause.types.map((type) => checker.getTypeAtLocation(type)));
    for (const member of node.members)
      if (member.name && member.name.getText) for (const type of above) implement(type.getProperty(member.name.getText()), [member]);
  } else if (ts.isObjectLiteralExpression(node)) {
    const type = checker.getContextualType(node);
    for (const member of node.properties)
      if (type && member.name) implement(type.getProperty(member.name.getText()), ofMember(member));
  } else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken && ts.isPropertyAccessExpression(node.left)) {
    const symbol = checker.getSymbolAtLocation(node.left.name);
    const value = ts.isIdentifier(node.right) && checker.getSymbolAtLocation(node.right);
    implement(symbol, [node, ...functions(node.right)]);
    if (symbol && value && (value.declarations || []).some(ts.isParameter)) for (const each of symbol.declarations || []) open.add(each);
  }
}

function ofMember(member) {
  if (ts.isPropertyAssignment(member)) return [member, ...functions(member.initializer)];
  if (!ts.isShorthandPropertyAssignment(member)) return [member];
  const symbol = checker.getShorthandAssignmentValueSymbol(member);
  return [member, ...((symbol && symbol.declarations) || [])];
}

// What is declared, what implements that, and so on.
function ways(declared) {
  const todo = [...declared];
  const found = new Set(todo);
  while (todo.length)
    for (const each of implementing.get(todo.pop()) || [])
      if (!found.has(each)) {
        found.add(each);
        todo.push(each);
      }
  return [...found];
}

for (const name of files) {
  const visit = (node) => {
    noteImplementing(node);
    ts.forEachChild(node, visit);
  };
  visit(program.getSourceFile(name));
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
        const every = ways(declared);
        const further = [...every, ...(node.arguments || []).flatMap(functions)].filter(inside).map(placed);
        const isOutside = !declared.some(inside) && !(isScript && !declared.length);
        out.push([relative(file), at.line + 1, at.character, callee.text, places(node, callee), isOutside, further, every.some((each) => open.has(each))]);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
}
console.log(JSON.stringify(out));
