// Several requests decided at once: what the first press saw is exactly what the second one sends.
import type { Request } from '../wire'
import { plural } from './words'

export type Choice = { request: Request; stance: 'take' | 'veto' }

/** Why `now` is not what the first press saw, in words; null while it is. */
export function changeSince(seen: Choice[], now: Choice[]): string | null {
  const before = new Map(seen.map((choice) => [choice.request.id, choice]))
  const after = new Map(now.map((choice) => [choice.request.id, choice]))
  const came = now.filter(({ request }) => !before.has(request.id)).length
  const went = seen.filter(({ request }) => !after.has(request.id)).length
  const other = now.filter(({ request, stance }) => {
    const old = before.get(request.id)
    return old !== undefined && (old.request.digest !== request.digest || old.stance !== stance)
  }).length
  const parts = [
    came ? `${plural(came, 'request')} came` : '',
    went ? `${plural(went, 'request')} went` : '',
    other ? `${plural(other, 'request')} changed` : '',
  ].filter(Boolean)
  return parts.length ? `${parts.join(', ')} meanwhile` : null
}

/** Rows stay where they were seen first; what is new comes last. A click must not hit another row than the one aimed at. */
export function inSeenOrder(requests: Request[], seen: ReadonlyMap<string, number>): Request[] {
  const placeOf = (request: Request) => seen.get(request.id) ?? Infinity
  return requests
    .map((request, i) => ({ request, i }))
    .sort((a, b) => (placeOf(a.request) === placeOf(b.request) ? a.i - b.i : placeOf(a.request) - placeOf(b.request)))
    .map(({ request }) => request)
}
