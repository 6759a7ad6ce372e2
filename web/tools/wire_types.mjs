// Writes src/wire.ts, the types of the wire, from the OpenAPI document; `--check` fails if it is stale.
// Only what the document says about shapes becomes a type: lengths and patterns are the server's to check.
import { readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'yaml'

const source = new URL('../../spec/openapi.yaml', import.meta.url)
const target = new URL('../src/wire.ts', import.meta.url)

const literal = (value) => (value === null ? 'null' : JSON.stringify(value).replaceAll('"', "'"))
const primitives = { string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' }

function typeOf(schema, indent) {
  if (schema.$ref) return schema.$ref.split('/').pop()
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(' | ')
  const choices = schema.anyOf ?? (schema.properties ? undefined : schema.oneOf)
  if (choices) return [...new Set(choices.map((choice) => typeOf(choice, indent)))].join(' | ')
  // A second member of allOf only narrows what the first one says; the wider type is true of it too.
  if (schema.allOf && !schema.properties) return typeOf(schema.allOf[0], indent)
  const kinds = [schema.type ?? []].flat()
  if (kinds.length === 0 && !schema.properties) return 'Json'
  const parts = kinds.map((kind) => {
    if (kind === 'array') return arrayOf(schema, indent)
    if (kind === 'object') return objectOf(schema, indent)
    return primitives[kind]
  })
  return parts.length ? parts.join(' | ') : objectOf(schema, indent)
}

function arrayOf(schema, indent) {
  const item = schema.items ? typeOf(schema.items, indent) : 'Json'
  return item.includes(' | ') ? `(${item})[]` : `${item}[]`
}

function objectOf(schema, indent) {
  if (!schema.properties) return 'JsonObject'
  const inner = indent + '  '
  const members = Object.entries(schema.properties).map(([name, member]) => {
    const mark = schema.required?.includes(name) ? '' : '?'
    const key = /^[a-z_]\w*$/i.test(name) ? name : literal(name)
    return `${inner}${key}${mark}: ${typeOf(member, inner)}\n`
  })
  return `{\n${members.join('')}${indent}}`
}

const document = parse(readFileSync(source, 'utf8'), { merge: true })
let out = '// Made from spec/openapi.yaml by `npm run wire`. Do not edit.\n\n'
out += 'export type Json = null | boolean | number | string | Json[] | JsonObject\n'
out += 'export type JsonObject = { [name: string]: Json }\n\n'
for (const [name, schema] of Object.entries(document.components.schemas)) {
  if (name.endsWith('Error')) continue
  out += `export type ${name} = ${typeOf(schema, '')}\n`
}
out += `export type Error = {\n  error: ErrorBody\n}\n`

if (!process.argv.includes('--check')) {
  writeFileSync(target, out)
} else if (readFileSync(target, 'utf8') !== out) {
  console.error('web/src/wire.ts is not what spec/openapi.yaml says; run `npm run wire` in web/')
  process.exit(1)
}
