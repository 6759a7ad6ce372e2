// A policy file as its author wrote it. The server compiles and judges; this only reads enough of the text to show its
// parts and to say beforehand what a grant would mean.
import { LineCounter, parseDocument, isMap, isScalar, isSeq, type Document, type YAMLMap } from 'yaml'
import type { Json, RiskLevel } from '../wire'

export type Part = {
  /** Which of the documents it stands in. */
  document: number
  section: string
  name: string
  /** What it does, where it says so: `allow`, `require`, `deny`. */
  effect: string | null
  /** First and last line of the part in the file, from 1. */
  from: number
  to: number
}

export type Similar = { pin: string[]; bound: string[]; may_pin_prefix: boolean }

/** What the policy says about grants; see `grants:` in the policy language. */
export type GrantRules = {
  offer: string[]
  ttl_max_s: number
  uses_max: number
  sum_max: number | null
  risk_max: RiskLevel | null
  similar: ReadonlyMap<string, Similar>
  /** Tools that run a command, and the argument that holds it. */
  shell: ReadonlyMap<string, string>
}

/** A policy and what it extends, each as it was written: the policy itself first. */
export type PolicyText = { documents: { name: string; text: string }[]; parts: Part[]; grants: GrantRules | null; error: string | null }

/** The server gives a policy that extends another one together with it. */
const documentsOf = (text: string): string[] => text.split('\0').filter((one) => one.trim() !== '')

/** The text that its author can change. */
export const ownText = (text: string): string => documentsOf(text)[0] ?? ''

/** `30s`, `5m`, `1h30m`, `14d` in seconds; null for anything else. */
export function durationOf(text: unknown): number | null {
  if (typeof text !== 'string' || !/^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/.test(text)) return null
  const unit: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }
  let sum = 0
  for (const [, count, name] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) sum += Number(count) * unit[name!]!
  return sum
}

const texts = (value: unknown): string[] => (typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [])
const mapOf = (value: unknown): Record<string, unknown> => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {})

function readSimilar(value: unknown): Similar {
  const given = mapOf(value)
  return { pin: texts(given['pin']), bound: Object.keys(mapOf(given['bound'])), may_pin_prefix: given['argv_prefix'] === true }
}

/** The nearest policy that speaks of grants counts; tools are those of all of them. */
function readGrants(roots: Record<string, unknown>[]): GrantRules | null {
  const root = roots.find((one) => 'grants' in one)
  if (!root) return null
  const given = mapOf(root['grants'])
  const risk = given['max_risk']
  const shell = new Map<string, string>()
  for (const one of roots.toReversed())
    for (const [tool, facts] of Object.entries(mapOf(one['tools']))) {
      const arg = mapOf(mapOf(facts)['shell'])['arg']
      if (typeof arg === 'string') shell.set(tool, arg)
      else shell.delete(tool)
    }
  return {
    offer: texts(given['offer']),
    ttl_max_s: durationOf(given['max_ttl']) ?? 3600,
    uses_max: typeof given['max_uses'] === 'number' ? given['max_uses'] : 10,
    sum_max: typeof given['max_sum'] === 'number' ? given['max_sum'] : null,
    risk_max: risk === 'none' ? null : risk === 'low' || risk === 'high' || risk === 'critical' ? risk : 'medium',
    similar: new Map(Object.entries(mapOf(given['similar'])).map(([tool, value]) => [tool, readSimilar(value)])),
    shell,
  }
}

const sections_of_maps = ['tools', 'approvers', 'gates', 'counters', 'vars']
const sections_of_lists = ['rules', 'risk', 'tests']

function partsOf(document: Document, lines: LineCounter, index: number): Part[] {
  const root = document.contents
  if (!isMap(root)) return []
  const lineAt = (offset: number) => lines.linePos(offset).line
  const parts: Part[] = []
  const put = (section: string, name: unknown, effect: unknown, range: [number, number, number] | null | undefined, start = range?.[0]) => {
    if (range && start !== undefined)
      parts.push({ document: index, section, name: String(name ?? ''), effect: typeof effect === 'string' ? effect : null, from: lineAt(start), to: lineAt(Math.max(start, range[1] - 1)) })
  }
  for (const { key, value } of (root as YAMLMap).items) {
    const section = isScalar(key) ? String(key.value) : ''
    if (sections_of_maps.includes(section) && isMap(value))
      for (const item of value.items)
        if (isScalar(item.key)) put(section, item.key.value, null, (item.value as { range?: [number, number, number] } | null)?.range ?? item.key.range, item.key.range?.[0])
    if (sections_of_lists.includes(section) && isSeq(value))
      for (const item of value.items) if (isMap(item)) put(section, item.get('id') ?? item.get('name') ?? item.get('when'), item.get('then'), item.range)
    if (section === 'grants' || section === 'trust' || section === 'defaults') put(section, section, null, (value as { range?: [number, number, number] } | null)?.range, isScalar(key) ? key.range?.[0] : undefined)
  }
  return parts
}

/** Reads a policy's text; one that is no YAML has an error and no parts. */
export function readPolicyText(text: string | null): PolicyText {
  const read: PolicyText = { documents: [], parts: [], grants: null, error: null }
  const roots: Record<string, unknown>[] = []
  for (const [index, one] of documentsOf(text ?? '').entries()) {
    const lines = new LineCounter()
    const document = parseDocument(one, { lineCounter: lines })
    try {
      if (document.errors[0]) throw document.errors[0]
      const root = mapOf(document.toJS({ maxAliasCount: 0 }) as Json)
      roots.push(root)
      read.documents.push({ name: typeof root['policy'] === 'string' ? root['policy'] : '', text: one })
      read.parts.push(...partsOf(document, lines, index))
    } catch (caught) {
      read.documents.push({ name: '', text: one })
      read.error ??= (caught instanceof Error ? caught.message : String(caught)).split('\n', 1)[0]!
    }
  }
  // What cannot be read whole must not promise anything.
  if (read.error === null) read.grants = readGrants(roots)
  return read
}
