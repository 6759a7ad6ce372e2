// “Same as the 12 approved today except amount 24 → 240”: how a request differs from what people approved before.
import type { Request } from '../wire'
import { shapeOf } from './group'
import { changes, type Change } from './json'

/** What the server made of a request: another amount may well be another risk, held by another rule. */
export type Judged = { what: 'risk' | 'rule'; before: string; after: string }
export type Likeness = { count: number; latest: Request; differences: Change[]; judged: Judged[] }

const keyOf = ({ agent, action }: Request): string => JSON.stringify([agent, action!.tool, shapeOf(action!.arguments)])

/** Compares with the latest approved request of one agent for one tool, with arguments of one shape; null if there is none. */
export function likenessOf(request: Request, approved: Request[]): Likeness | null {
  if (!request.action) return null
  const key = keyOf(request)
  const alike = approved.filter((other) => other.id !== request.id && other.action && keyOf(other) === key)
  const latest = alike.reduce<Request | null>(
    (best, other) => (!best || (other.settled_at ?? '') > (best.settled_at ?? '') ? other : best),
    null,
  )
  if (!latest?.action) return null
  const both: Judged[] = [
    { what: 'risk', before: latest.risk.level, after: request.risk.level },
    { what: 'rule', before: latest.verdict.rule ?? 'none', after: request.verdict.rule ?? 'none' },
  ]
  return {
    count: alike.length, latest, differences: changes(latest.action.arguments, request.action.arguments), judged: both.filter(({ before, after }) => before !== after),
  }
}
