// JSON values as trees: comparing, changing and printing them without ever trusting a name. A member may be called
// `__proto__`; plain assignment would lose it and show a person less than what runs.
import type { Json, JsonObject } from '../wire'

export type Path = (string | number)[]
export type Change = { path: Path; kind: 'changed' | 'added' | 'removed'; before?: Json; after?: Json }

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const entriesOf = (value: JsonObject): [string, Json][] => Object.entries(value)

const memberOf = (value: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(value, name) ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined

export function objectFrom(entries: [string, Json][]): JsonObject {
  return Object.fromEntries(entries)
}

export function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return a !== undefined && b !== undefined ? changes(a, b).length === 0 : a === b
}

/** Every leaf in which two values differ, in the order of `before`, then what is new. */
export function changes(before: Json, after: Json, path: Path = []): Change[] {
  if (isObject(before) && isObject(after)) {
    const found: Change[] = []
    for (const [name, value] of entriesOf(before)) {
      const other = memberOf(after, name)
      if (other === undefined) found.push({ path: [...path, name], kind: 'removed', before: value })
      else found.push(...changes(value, other, [...path, name]))
    }
    for (const [name, value] of entriesOf(after))
      if (!Object.hasOwn(before, name)) found.push({ path: [...path, name], kind: 'added', after: value })
    return found
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const found: Change[] = []
    for (let i = 0; i < Math.max(before.length, after.length); ++i) {
      const [old, fresh] = [before[i], after[i]]
      if (fresh === undefined) found.push({ path: [...path, i], kind: 'removed', before: old! })
      else if (old === undefined) found.push({ path: [...path, i], kind: 'added', after: fresh })
      else found.push(...changes(old, fresh, [...path, i]))
    }
    return found
  }
  return Object.is(before, after) ? [] : [{ path, kind: 'changed', before, after }]
}

/** The value with `leaf` at `path`; everything else is shared with the old one. */
export function setAt(value: Json, path: Path, leaf: Json): Json {
  const [step, ...rest] = path
  if (step === undefined) return leaf
  if (Array.isArray(value)) return value.map((item, i) => (i === step ? setAt(item, rest, leaf) : item))
  if (!isObject(value)) return value
  return objectFrom(entriesOf(value).map(([name, item]) => [name, name === step ? setAt(item, rest, leaf) : item]))
}

export function printPath(path: Path): string {
  return path
    .map((step, i) => {
      if (typeof step === 'number') return `[${step}]`
      if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(step)) return `[${JSON.stringify(step)}]`
      return i === 0 ? step : `.${step}`
    })
    .join('')
}

/** One line for a value, at most `length_max` characters. */
export function shortJson(value: Json | undefined, length_max = 80): string {
  if (value === undefined) return ''
  const text = JSON.stringify(value)
  return text.length > length_max ? `${text.slice(0, length_max - 1)}…` : text
}

const number_form = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** True when the text is a number of JSON that arrives as written. */
export function isExact(text: string): boolean {
  if (!number_form.test(text)) return false
  const value = Number(text)
  if (!Number.isFinite(value)) return false
  const digits = (given: string) => {
    const mantissa = given.toLowerCase().split('e')[0]!.replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '')
    return mantissa
  }
  return digits(text) === digits(String(value)) || digits(text) === digits(value.toPrecision(17))
}

/** Reads one number that a person typed. */
export function parseNumber(text: string): { value: number } | { error: string } {
  const trimmed = text.trim()
  if (!number_form.test(trimmed)) return { error: 'must be a number, like 12 or 12.5' }
  if (!isExact(trimmed)) return { error: 'has more digits than can be kept exactly' }
  return { value: Number(trimmed) }
}
