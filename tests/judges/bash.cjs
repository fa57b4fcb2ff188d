// The outline of shell files by mvdan-sh: node bash.cjs <mvdan-sh> < paths; a line of JSON for each, null if it does not parse.
const { readFileSync } = require('node:fs')
const { syntax } = require(process.argv[2])
const { createInterface } = require('node:readline')

const parser = syntax.NewParser(syntax.Variant(syntax.LangBash))
const type = (node) => syntax.NodeType(node)

function outline(source, path) {
  const definitions = []
  const imports = []
  const functions = [] // around, innermost last
  const open = []
  const variables = new Set() // a name is one symbol, where it first gets a value
  syntax.Walk(parser.Parse(source, path), (node) => {
    if (!node) {
      if (open.pop()) functions.pop()
      return true
    }
    const lines = [node.Pos().Line(), node.End().Line()]
    let named = false
    if (type(node) === 'FuncDecl') {
      definitions.push([[...functions, node.Name.Value].join('.'), 'function', ...lines])
      functions.push(node.Name.Value)
      named = true
    } else if (type(node) === 'DeclClause' && !functions.length) {
      const flags = node.Args.filter((arg) => arg.Naked && !arg.Name).map((arg) => source.slice(arg.Pos().Offset(), arg.End().Offset()))
      const has = (flag) => flags.some((flags) => flags.startsWith('-') && flags.includes(flag))
      const variant = node.Variant.Value
      const readonly = variant === 'readonly' || (variant !== 'export' && variant !== 'local' && has('r'))
      const exported = variant === 'export' || (variant !== 'local' && has('x'))
      for (const { Name, Naked } of readonly || exported ? node.Args : []) {
        if (!Name || Naked || variables.has(Name.Value)) continue
        variables.add(Name.Value)
        definitions.push([Name.Value, readonly ? 'constant' : /^_*[A-Z][A-Z0-9_]*$/.test(Name.Value) ? 'constant' : 'variable', ...lines])
      }
    } else if (type(node) === 'CallExpr' && node.Args.length > 1) {
      const [command, file] = node.Args.map((word) => source.slice(word.Pos().Offset(), word.End().Offset()))
      if (command === '.' || command === 'source') imports.push([lines[0], file.replace(/^["']+|["']+$/g, '')])
    }
    open.push(named)
    return true
  })
  return { definitions, imports }
}

createInterface({ input: process.stdin }).on('line', (path) => {
  let answer = null
  try {
    answer = outline(readFileSync(path, 'latin1'), path)
  } catch {}
  console.log(JSON.stringify(answer))
})
