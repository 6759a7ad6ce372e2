// “Same as the 12 approved today except amount 24 → 240”: how a request differs from what people approved before.
import type { Request } from '../wire'
import { changes, type Change } from './json'
import { groupKey } from './group'

export type Likeness = { count: number; latest: Request; differences: Change[] }

/** Compares with the latest approved request of the same group; null if there is none. */
export function likenessOf(request: Request, approved: Request[]): Likeness | null {
  if (!request.action) return null
  const key = groupKey(request)
  const alike = approved.filter((other) => other.id !== request.id && groupKey(other) === key)
  const latest = alike.reduce<Request | null>(
    (best, other) => (!best || (other.settled_at ?? '') > (best.settled_at ?? '') ? other : best),
    null,
  )
  if (!latest?.action) return null
  return { count: alike.length, latest, differences: changes(latest.action.arguments, request.action.arguments) }
}
