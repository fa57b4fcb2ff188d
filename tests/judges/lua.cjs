// The outline of Lua files by luaparse: node lua.cjs <luaparse> < paths; a line of JSON for each, null if it does not parse.
const { readFileSync } = require('node:fs')
const { parse } = require(process.argv[2])
const { createInterface } = require('node:readline')

const text = (node) =>
  node.type === 'Identifier' ? node.name
  : node.type === 'MemberExpression' ? `${text(node.base)}.${node.identifier.name}`
  : node.type === 'StringLiteral' ? node.raw.slice(1, -1)
  : null

function outline(source) {
  const found = []
  const imports = []
  const add = (name, kind, path, first, last) => found.push([[...path, name].join('.'), kind, first.loc.start.line, last.loc.end.line])

  const assigned = (target, value, path, statement) => {
    if (target.type === 'IndexExpression' && target.index.type !== 'StringLiteral') return []
    const kind = 'function'
    const owner = target.type === 'Identifier' ? [] : [text(target.base)]
    const name = target.type === 'Identifier' ? target.name : text(target.identifier || target.index)
    if (owner[0] === null || !name) return []
    add(name, kind, [...path, ...owner], statement, statement)
    return [...owner, name]
  }
  const walk = (node, path, top) => {
    if (!node || typeof node !== 'object') return
    if (Array.isArray(node)) return node.forEach((child) => walk(child, path, top))
    let inside = path
    if (node.type === 'FunctionDeclaration' && node.identifier) {
      const member = node.identifier.type === 'MemberExpression'
      const owner = member ? [text(node.identifier.base)] : []
      const name = member ? node.identifier.identifier.name : node.identifier.name
      add(name, member && node.identifier.indexer === ':' ? 'method' : 'function', [...path, ...owner], node, node)
      inside = [...path, ...owner, name]
    } else if (node.type === 'LocalStatement' || node.type === 'AssignmentStatement') {
      const [target] = node.variables
      const [value] = node.init
      if (node.variables.length === 1 && value && value.type === 'FunctionDeclaration') {
        return walk(value.body, [...path, ...assigned(target, value, path, node)])
      }
      if (top && node.init.length) {
        node.variables.filter((v) => v.type === 'Identifier').forEach((v) => add(v.name, 'variable', path, node, node))
        if (target.type === 'Identifier') inside = [...path, target.name]
      }
      if (value && value.type === 'TableConstructorExpression' && target.type === 'MemberExpression' && node.variables.length === 1) {
        return fields(value, path, text(target))
      }
      return walk(node.init, inside)
    } else if (node.type === 'TableConstructorExpression') {
      return fields(node, path, null)
    } else if (node.type === 'CallExpression' || node.type === 'StringCallExpression') {
      const [first, second] = node.arguments || [node.argument]
      const called = node.base.name
      const module = called === 'require' && (node.arguments || [first]).length === 1 ? first : called === 'pcall' && first.name === 'require' ? second : null
      if (module && module.type === 'StringLiteral') imports.push([node.loc.start.line, text(module)])
    }
    const within = node.type === 'Chunk'
    Object.entries(node).forEach(([key, child]) => key !== 'identifier' && walk(child, inside, within))
  }
  const fields = (table, path, owner) => {
    for (const field of table.fields) {
      const keyed = field.type === 'TableKeyString' ? field.key.name : field.type === 'TableKey' ? text(field.key.type === 'StringLiteral' ? field.key : {}) : null
      const named = owner ? [owner] : []
      if (keyed && field.value.type === 'FunctionDeclaration') {
        add(keyed, 'function', [...path, ...named], field, field)
        walk(field.value.body, [...path, ...named, keyed])
      } else if (field.value.type === 'TableConstructorExpression') {
        fields(field.value, path, field.type === 'TableKeyString' ? keyed : null)
      } else {
        walk(field.value, path)
      }
    }
  }
  walk(parse(source, { locations: true, luaVersion: 'LuaJIT', encodingMode: 'none', comments: false }), [], true)
  return { definitions: found, imports }
}

createInterface({ input: process.stdin }).on('line', (path) => {
  let answer = null
  for (const luaVersion of ['LuaJIT', '5.3']) {
    try {
      answer ||= outline(readFileSync(path, 'latin1'), luaVersion)
    } catch {}
  }
  console.log(JSON.stringify(answer))
})
