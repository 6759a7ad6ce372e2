// JSON that a person typed: read exactly as written, or refused. Fetched with what needs it.
import { isExact } from './json'
import type { Json } from '../wire'

/** The name that an object of a JSON text has twice: of two values one would be lost without a word. */
function twice(text: string): string | null {
  const open: Set<string>[] = []
  for (const [token, name, , brace] of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)|"(?:[^"\\]|\\.)*"|([{}])/g)) {
    if (brace === '{') open.push(new Set())
    else if (brace) open.pop()
    else if (name) {
      const read = JSON.parse(name) as string
      if (open.at(-1)!.has(read)) return token.replace(/\s*:$/, '')
      open.at(-1)!.add(read)
    }
  }
  return null
}

/** Reads JSON that a person typed; says where it is wrong, and refuses numbers that would be rounded and names that stand twice. */
export function parseTyped(text: string): { value: Json } | { error: string } {
  let rounded = ''
  try {
    const value = JSON.parse(text, function (this: unknown, _name: string, item: unknown, context?: { source?: string }) {
      if (typeof item === 'number' && context?.source && !isExact(context.source)) rounded = context.source
      return item
    } as (this: unknown, name: string, item: unknown) => unknown) as Json
    if (rounded) return { error: `${rounded} cannot be kept exactly` }
    const name = twice(text)
    return name === null ? { value } : { error: `${name} stands twice in one object` }
  } catch (error) {
    return { error: error instanceof Error ? error.message : 'not JSON' }
  }
}
