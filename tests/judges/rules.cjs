// What graphql-js, solidity-parser and Vue's compiler say of files: node rules.cjs <node_modules> < paths; a line of JSON
// for each: definitions as [name, first line], of a component its scripts; null if it does not parse.
const { readFileSync } = require('node:fs')
const { extname, join } = require('node:path')
const load = (name) => require(join(process.argv[2], name))

const DEFINED = /TypeDefinition|TypeExtension|EnumValueDefinition|OperationDefinition|FragmentDefinition|^FieldDefinition|DirectiveDefinition/
const INPUTS = new Set(['InputObjectTypeDefinition', 'InputObjectTypeExtension'])

function graphql(source) {
  const { parse, visit } = load('graphql')
  const found = []
  visit(parse(source), {
    enter(node, _key, parent, _path, above) {
      const isInput = node.kind === 'InputValueDefinition' && INPUTS.has(above.at(-1)?.kind)
      if (node.name && (DEFINED.test(node.kind) || isInput)) {
        found.push([(node.kind === 'DirectiveDefinition' ? '@' : '') + node.name.value, node.name.loc.startToken.line])
      }
    },
  })
  return found
}

function solidity(source) {
  const { parse, visit } = load('@solidity-parser/parser')
  const found = []
  const add = (node, name) => { found.push([name ?? node.name, node.loc.start.line]) }
  const special = (node) => node.isConstructor ? 'constructor' : node.isReceiveEther ? 'receive' : node.isFallback ? 'fallback' : node.name
  visit(parse(source, { loc: true }), {
    ContractDefinition: (node) => add(node),
    FunctionDefinition: (node) => add(node, special(node)),
    ModifierDefinition: (node) => add(node),
    EventDefinition: (node) => add(node),
    CustomErrorDefinition: (node) => add(node),
    TypeDefinition: (node) => add(node),
    EnumDefinition: (node) => { add(node); node.members.forEach((member) => add(member)) },
    StructDefinition: (node) => { add(node); node.members.forEach((member) => add(member)) },
    StateVariableDeclaration: (node) => node.variables.forEach((one) => add(one)),
    FileLevelConstant: (node) => add(node),
  })
  return found
}

function vue(source) {
  const { descriptor } = load('@vue/compiler-sfc').parse(source)
  return [descriptor.script, descriptor.scriptSetup].filter(Boolean).map((block) => block.content.trim())
}

const JUDGES = { '.graphql': graphql, '.sol': solidity, '.vue': vue }
for (const path of readFileSync(0, 'utf8').split('\n')) {
  let said = null
  try { said = JUDGES[extname(path)](readFileSync(path, 'utf8')) } catch { said = null }
  console.log(JSON.stringify(said))
}
