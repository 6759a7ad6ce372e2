// What comes first: what is about to expire, then by risk, then by time left. What I have voted on waits for others.
import type { Request } from '../wire'
import { riskRank } from './words'

export const urgent_ms = 60_000

export const hasVoted = (request: Request, me: string): boolean => request.votes.some((vote) => vote.by === me)

type Ranked = { request: Request; voted: number; urgent: number; risk: number; expires: string }

function rankOf(request: Request, now: number, me: string): Ranked {
  const left = Date.parse(request.expires_at) - now
  return {
    request,
    voted: hasVoted(request, me) ? 1 : 0,
    urgent: left < urgent_ms ? 0 : 1,
    risk: -riskRank[request.risk.level],
    expires: request.expires_at,
  }
}

/** A new array, most pressing first. Equal ones keep the order in which they came. */
export function inOrder(requests: Iterable<Request>, now: number, me: string): Request[] {
  const ranked: Ranked[] = []
  for (const request of requests) ranked.push(rankOf(request, now, me))
  ranked.sort((a, b) => {
    const first = a.voted - b.voted || a.urgent - b.urgent || a.risk - b.risk
    if (first) return first
    // Times of one form compare as text.
    if (a.expires !== b.expires) return a.expires < b.expires ? -1 : 1
    return a.request.id < b.request.id ? -1 : 1
  })
  return ranked.map((one) => one.request)
}

/** When the order changes by itself next: the next request becomes urgent. Infinity if none will. */
export function nextOrderChange(requests: Iterable<Request>, now: number): number {
  let next = Infinity
  for (const request of requests) {
    const at = Date.parse(request.expires_at) - urgent_ms
    if (at > now && at < next) next = at
  }
  return next
}
