// What the server says about policy: explanations and what a policy would have done with the past.
import type { Json, JsonObject, Outcome, Request, RiskLevel } from '../wire'
import { isObject } from './json'
import { risks } from './words'

export type VerdictWord = 'allow' | 'hold' | 'deny'

export type Matched = { id: string; line: number; kind: string; effect: string; hard: boolean; error?: boolean }
export type Near = { id: string; line: number; effect: string; first_false?: string; unless?: string; error?: string }

/** The record of one judgement; what the server leaves out is empty here. */
export type Explained = {
  kind: VerdictWord
  rule: string
  gate: string
  risk: RiskLevel
  because: string
  headline: string
  approvals: [string, number][]
  matched: Matched[]
  near: Near[]
  values: JsonObject
  shell: { opaque: boolean; reason?: string } | null
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])

export function readExplained(value: Json): Explained {
  const record = isObject(value) ? value : {}
  const shell = record['shell']
  return {
    kind: text(record['kind']) as VerdictWord,
    rule: text(record['rule']),
    gate: text(record['gate']),
    risk: text(record['risk']) as RiskLevel,
    because: text(record['because']),
    headline: text(record['headline']),
    approvals: list(record['approvals']) as [string, number][],
    matched: list(record['matched']) as Matched[],
    near: list(record['near']) as Near[],
    values: isObject(record['values']) ? record['values'] : {},
    shell: isObject(shell) ? (shell as { opaque: boolean; reason?: string }) : null,
  }
}

export type Changed = { id: string; tool: string; before: VerdictWord; after: VerdictWord; outcome: Outcome | null; rule: string; because: string }

export type BacktestResult = {
  calls: number
  prompts_before: number
  prompts_after: number
  prompts_saved: number
  prompts_added: number
  minutes_saved: number
  changed: Changed[]
  dangerous: Changed[]
  now_denied: Changed[]
}

export function readBacktest(value: Json): BacktestResult {
  const record = isObject(value) ? value : {}
  const number = (name: string) => (typeof record[name] === 'number' ? record[name] : 0)
  const cases = (name: string) => list(record[name]) as unknown as Changed[]
  return {
    calls: number('calls'), prompts_before: number('prompts_before'), prompts_after: number('prompts_after'), prompts_saved: number('prompts_saved'),
    prompts_added: number('prompts_added'), minutes_saved: number('minutes_saved'), changed: cases('changed'), dangerous: cases('dangerous'), now_denied: cases('now_denied'),
  }
}

/** What differs, the most important first: what people refused and would now pass, then what they approved and would now be denied. */
export function casesInOrder(result: BacktestResult): { kind: 'dangerous' | 'now_denied' | 'changed'; one: Changed }[] {
  const named = new Set([...result.dangerous, ...result.now_denied].map((one) => one.id))
  return [
    ...result.dangerous.map((one) => ({ kind: 'dangerous' as const, one })),
    ...result.now_denied.map((one) => ({ kind: 'now_denied' as const, one })),
    ...result.changed.filter((one) => !named.has(one.id)).map((one) => ({ kind: 'changed' as const, one })),
  ]
}

/** The request as `/v1/policy/explain` takes a call. Counters, budgets and the roles of its user are not known here. */
export function callOf(request: Request): JsonObject {
  const { action, kind } = request
  const context: JsonObject = { agent: { id: request.agent } }
  if (request.user) context['user'] = { id: request.user }
  if (request.session) context['session'] = request.session
  if (request.task) context['task'] = { id: request.task }
  const claims: JsonObject = {}
  const claimed = isObject(request.risk.claimed) ? request.risk.claimed['level'] : request.risk.claimed
  if (risks.some((risk) => risk === claimed)) claims['risk'] = claimed!
  if (action?.reversible === false) claims['reversible'] = false
  if (Object.keys(claims).length) context['claims'] = claims
  if (typeof action?.estimated_cost === 'number') context['cost'] = { estimate: action.estimated_cost }
  if (request.risk.confidence !== null) context['confidence'] = request.risk.confidence
  if (action) {
    const asked = isObject(request.proposed) ? request.proposed : action.arguments
    return { tool: action.tool, args: asked, context }
  }
  if (kind === 'plan') return { event: 'plan', plan: (request.proposed ?? request.plan ?? null) as Json, context }
  if (kind === 'response') return { event: 'final_response', response: (request.proposed ?? request.response ?? null) as Json, context }
  if (kind === 'input') return { event: 'input', input: (request.input ?? null) as Json, context }
  return { event: 'confirmation', confirmation: (request.confirmation ?? null) as Json, context }
}

export const verdictWord: Record<VerdictWord, string> = { allow: 'Passes', hold: 'Waits for people', deny: 'Is denied' }
