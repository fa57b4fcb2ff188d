// The TypeScript compiler's view of files: node outline.cjs <typescript package> < list of paths > JSON lines.
// Each line: {definitions: [[qualified name, kind, first line, last line]], imports: [[line, module, name, alias]],
// comments: [line]}, or null where the compiler finds a syntax error. What is exported where it is defined is listed twice.
const fs = require('node:fs')
const ts = require(process.argv[2])
const K = ts.SyntaxKind

const KINDS = {
  [K.FunctionDeclaration]: 'function',
  [K.ClassDeclaration]: 'class',
  [K.MethodDeclaration]: 'method',
  [K.MethodSignature]: 'method',
  [K.GetAccessor]: 'method',
  [K.SetAccessor]: 'method',
  [K.Constructor]: 'method',
  [K.InterfaceDeclaration]: 'interface',
  [K.TypeAliasDeclaration]: 'type',
  [K.EnumDeclaration]: 'enum',
  [K.EnumMember]: 'constant',
  [K.ModuleDeclaration]: 'module',
  [K.ExportSpecifier]: 'export',
}

const isFunction = (node) => node && (ts.isFunctionExpression(node) || ts.isArrowFunction(node))
const variableKind = (name) => (/^_*[A-Z][A-Z0-9_]*$/.test(name) ? 'constant' : 'variable')
const text = (node) => node.getText().replace(/^['"]|['"]$/g, '')

function outline(path) {
  const file = ts.createSourceFile(path, fs.readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  if (file.parseDiagnostics.length) return null
  const definitions = []
  const imports = []
  const comments = new Set()
  const variables = new Set()
  const line = (position) => file.getLineAndCharacterOfPosition(position).line + 1

  function define(node, kind, name, path, owner) {
    const qualified = [...path, ...(owner ? [owner] : []), name].join('.')
    if (kind === 'variable' || kind === 'constant') {
      if (variables.has(qualified)) return path
      variables.add(qualified)
    }
    const row = [line(node.getStart()), line(node.end)]
    definitions.push([qualified, kind, ...row])
    if (isExported(node)) definitions.push([qualified, 'export', ...row])
    return [...path, ...(owner ? [owner] : []), name]
  }

  // Of an interface, an alias or such a property, or of what a union or an intersection is made of outside of functions.
  function isOfNamedType(node) {
    let of = node.parent
    if (ts.isInterfaceDeclaration(of)) return true
    if (ts.isTypeAliasDeclaration(of.parent) || ts.isPropertySignature(of.parent)) return true
    if (!ts.isUnionTypeNode(of.parent) && !ts.isIntersectionTypeNode(of.parent)) return false
    while (of && !KINDS[of.kind] && !ts.isPropertySignature(of) && !isFunction(of)) of = of.parent
    return !of || !(ts.isFunctionLike(of) && of.body !== null)
  }

  // By a modifier of its own, or of the statement that declares several.
  function isExported(node) {
    const statement = ts.isVariableDeclaration(node) ? node.parent.parent : node
    return ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some((modifier) => modifier.kind === K.ExportKeyword)
  }

  // The statement where it declares nothing else, else the declarator.
  function declared(node) {
    const list = node.parent
    return ts.isVariableDeclarationList(list) && list.declarations.length === 1 && ts.isVariableStatement(list.parent)
      ? list.parent
      : node
  }

  function assigned(node) {
    const chain = ts.isExpressionStatement(node.parent) ? node.parent : node
    const left = node.left
    const right = node.right
    const kind = isFunction(right) ? 'function' : ts.isClassExpression(right) ? 'class' : 'export'
    if (left.getText() === 'module.exports') {
      if (kind !== 'export' || chain !== node) return [chain, kind, kind === 'export' ? 'module.exports' : (right.name?.text ?? 'module.exports')]
      const outer = node.parent
      return ts.isBinaryExpression(outer) && ts.isExpressionStatement(outer.parent) ? [outer.parent, kind, 'module.exports'] : null
    }
    const object = left.expression.getText()
    const name = left.name.getText()
    if (object === 'exports' || object === 'module.exports') return [chain, kind, name]
    const last = ts.isBinaryExpression(right) && right.operatorToken.kind === K.EqualsToken ? right.right : right
    if (!isFunction(last)) return null
    const owner = ts.isIdentifier(left.expression) || ts.isPropertyAccessExpression(left.expression)
    return [chain, 'method', name, owner ? object.replace(/\.prototype$/, '') : null]
  }

  function definition(node, path) {
    const kind = KINDS[node.kind]
    if (kind) {
      if (node.kind === K.ModuleDeclaration && (node.flags & ts.NodeFlags.GlobalAugmentation || ts.isModuleDeclaration(node.parent))) return path
      if (node.kind === K.Constructor) return define(node, kind, 'constructor', path)
      if (!node.name) return define(node, kind, 'default', path)
      if (node.kind === K.ModuleDeclaration) {
        let inner = node
        while (inner.body && ts.isModuleDeclaration(inner.body)) inner = inner.body
        return define(node, kind, file.text.slice(node.name.getStart(), inner.name.end).replace(/['"]/g, ''), path)
      }
      return define(node, kind, text(node.name), path)
    }
    if (ts.isPropertyDeclaration(node)) {
      if (isFunction(node.initializer)) return define(node, 'method', text(node.name), path)
      if (ts.isIdentifier(node.name) || ts.isPrivateIdentifier(node.name)) return define(node, variableKind(text(node.name)), text(node.name), path)
    } else if (ts.isPropertySignature(node) && ts.isIdentifier(node.name) && isOfNamedType(node)) {
      return define(node, 'property', text(node.name), path)
    } else if (ts.isPropertyAssignment(node) && isFunction(node.initializer)) {
      return define(node, 'method', text(node.name), path)
    } else if (ts.isParameter(node) && ts.isParameterPropertyDeclaration(node, node.parent) && ts.isIdentifier(node.name)) {
      define(node, variableKind(text(node.name)), text(node.name), path.slice(0, -1)) // of the class, not of its constructor
    } else if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name)) {
      const whole = declared(node)
      if (isFunction(node.initializer)) return define(whole, 'function', text(node.name), path)
      if (node.initializer && ts.isClassExpression(node.initializer)) return define(whole, 'class', text(node.name), path)
      const place = node.parent.parent
      const top = ts.isVariableStatement(place) && (ts.isSourceFile(place.parent) || ts.isModuleBlock(place.parent))
      if (top) return define(whole, variableKind(text(node.name)), text(node.name), path)
    } else if (ts.isExportAssignment(node)) {
      const value = node.expression
      const kind = node.isExportEquals ? 'export' : isFunction(value) ? 'function' : ts.isClassExpression(value) ? 'class' : 'export'
      return define(node, kind, node.isExportEquals ? '=' : 'default', path)
    } else if (ts.isExportDeclaration(node) && (!node.exportClause || ts.isNamespaceExport(node.exportClause))) {
      define(node, 'export', node.exportClause ? text(node.exportClause.name) : '*', path)
    } else if (ts.isBinaryExpression(node) && node.operatorToken.kind === K.EqualsToken && ts.isPropertyAccessExpression(node.left)) {
      const found = assigned(node)
      if (found) {
        const inner = define(found[0], found[1], found[2], path, found[3])
        return ts.isBinaryExpression(node.right) ? path : inner // a = b = function: b is no member of a
      }
    }
    return path
  }

  function imported(node) {
    const start = ts.isCallExpression(node) && ts.isVariableDeclaration(node.parent) ? node.parent : node
    const add = (module, name = null, alias = null) => imports.push([line(start.getStart()), module.text, name, alias])
    if (ts.isImportDeclaration(node)) {
      const clause = node.importClause
      if (!clause || (!clause.name && !clause.namedBindings)) return add(node.moduleSpecifier)
      if (clause.name) add(node.moduleSpecifier, 'default', clause.name.text)
      const bindings = clause.namedBindings
      if (bindings && ts.isNamespaceImport(bindings)) add(node.moduleSpecifier, '*', bindings.name.text)
      else if (bindings) named(bindings.elements, node.moduleSpecifier, add)
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
      const clause = node.exportClause
      if (!clause) add(node.moduleSpecifier, '*')
      else if (ts.isNamespaceExport(clause)) add(node.moduleSpecifier, '*', clause.name.text)
      else named(clause.elements, node.moduleSpecifier, add)
    } else if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
      add(node.moduleReference.expression, null, node.name.text)
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal)
    } else if (ts.isCallExpression(node) && node.arguments.length && ts.isStringLiteral(node.arguments[0])) {
      if (node.expression.kind === K.ImportKeyword) add(node.arguments[0])
      else if (node.expression.getText() === 'require' && node.arguments.length === 1) required(node, add)
    }
  }

  function named(elements, module, add) {
    if (!elements.length) add(module)
    for (const element of elements)
      element.propertyName ? add(module, element.propertyName.text, element.name.text) : add(module, element.name.text)
  }

  function required(node, add) {
    const module = node.arguments[0]
    const name = ts.isVariableDeclaration(node.parent) ? node.parent.name : null
    if (name && ts.isIdentifier(name)) return add(module, null, name.text)
    if (!name || !ts.isObjectBindingPattern(name)) return add(module)
    for (const element of name.elements)
      element.propertyName ? add(module, element.propertyName.getText(), element.name.getText()) : add(module, element.name.getText())
  }

  function comment(node) {
    if (node.kind === K.JsxText) return
    for (const range of [...(ts.getLeadingCommentRanges(file.text, node.pos) ?? []), ...(ts.getTrailingCommentRanges(file.text, node.pos) ?? [])])
      for (let row = line(range.pos); row <= line(range.end); row++) comments.add(row)
  }

  function walk(root) {
    const todo = [[root, []]]
    while (todo.length) {
      const [node, path] = todo.pop()
      imported(node)
      const inner = definition(node, path)
      const children = node.getChildren()
      if (!children.length) comment(node)
      for (const child of children.reverse()) if (child.kind !== K.JSDoc) todo.push([child, inner])
    }
  }

  if (file.text.startsWith('#!')) comments.add(1)
  walk(file)
  return { definitions, imports, comments: [...comments].sort((a, b) => a - b) }
}

for (const path of fs.readFileSync(0, 'utf8').split('\n').filter(Boolean)) console.log(JSON.stringify(outline(path)))
