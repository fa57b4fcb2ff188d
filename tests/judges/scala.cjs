// The outline of Scala files by scalameta: node scala.cjs <package> < paths; a line of JSON for each, null if it does not parse.
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { parseSource } = require(join(process.argv[2], 'main.js'))
const { createInterface } = require('node:readline')

const KINDS = {
  'Defn.Class': 'class', 'Defn.Trait': 'trait', 'Defn.Object': 'class', 'Pkg.Object': 'class', 'Defn.Enum': 'enum',
  'Defn.EnumCase': 'constant', 'Defn.Def': 'function', 'Decl.Def': 'function', 'Defn.Macro': 'function',
  'Defn.Type': 'type', 'Decl.Type': 'type', 'Ctor.Secondary': 'function', 'Defn.Given': 'class', 'Defn.GivenAlias': 'property',
}
const VALUES = new Set(['Defn.Val', 'Defn.Var', 'Decl.Val', 'Decl.Var'])
const OWNERS = new Set(['class', 'trait', 'enum'])
const PLACES = new Set(['Source', 'Pkg.Body', 'Template.Body', 'Pkg', 'Template'])

function outline(source) {
  let tree = null
  for (const dialect of ['Scala213', 'Scala3', 'Scala212']) {
    tree = parseSource(source, dialect)
    if (!tree.error) break
  }
  if (tree.error) return null
  const starts = [0]
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1)
  const line = (offset) => {
    let low = 0
    let high = starts.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (starts[middle] <= offset) low = middle + 1
      else high = middle
    }
    return low
  }
  const found = []
  const imports = []
  const add = (name, kind, path, owner, node) => {
    const own = kind === 'function' && OWNERS.has(owner) ? 'method' : kind
    found.push([[...path, name].join('.'), own, line(node.pos.start), line(node.pos.end - 1)])
  }
  const text = (node) => source.slice(node.pos.start, node.pos.end)
  const variables = (pattern) => {
    if (pattern.type === 'Pat.Var') return [pattern.name.value]
    return Object.values(pattern).flat().filter((child) => child && child.type).flatMap(variables)
  }
  const parameters = (node, path, kind) => {
    const isCase = node.mods.some((mod) => mod.type === 'Mod.Case') && node.type === 'Defn.Class'
    node.ctor.paramClauses.forEach((clause, at) => {
      for (const one of clause.values) {
        const isValue = one.mods.some((mod) => mod.type === 'Mod.ValParam' || mod.type === 'Mod.VarParam')
        if (isValue || (isCase && at === 0)) add(one.name.value, 'property', path, kind, one)
      }
    })
  }
  const walk = (node, path, owner, place) => {
    if (!node || typeof node !== 'object') return
    if (Array.isArray(node)) return node.forEach((child) => walk(child, path, owner, place))
    const kind = KINDS[node.type]
    if (node.type === 'Import') {
      for (const importer of node.importers) imports.push([line(node.pos.start), text(importer.ref), importer.importees.map(text)])
      return
    }
    let [inside, around] = [path, owner]
    if (VALUES.has(node.type) && PLACES.has(place)) {
      const names = node.pats.flatMap(variables)
      names.forEach((name) => add(name, 'property', path, owner, node))
      if (names.length) [inside, around] = [[...path, names[names.length - 1]], 'property']
    } else if (node.type === 'Defn.RepeatedEnumCase') {
      node.cases.forEach((name) => add(name.value, 'constant', path, owner, name))
    } else if (kind && node.name.value) {
      add(node.name.value, kind, path, owner, node)
      ;[inside, around] = [[...path, node.name.value], kind]
      if (node.ctor && node.ctor.paramClauses) parameters(node, inside, kind)
    }
    const next = PLACES.has(node.type) ? node.type : kind || VALUES.has(node.type) ? 'Defn' : place === 'Template.Body' ? 'Term' : node.type
    for (const [key, child] of Object.entries(node)) if (key !== 'pos') walk(child, inside, around, node.type in KINDS && key === 'templ' ? 'Template' : next)
  }
  walk(tree, [], null, 'Source')
  return { definitions: found, imports }
}

createInterface({ input: process.stdin }).on('line', (path) => {
  console.log(JSON.stringify(outline(readFileSync(path, 'utf8'))))
})
