// When a request that was put out of sight comes back.
import type { Request } from '../wire'

/** It is back so long before it would expire: out of sight must never mean too late. */
export const returns_before_ms = 120_000

/** Until when it is out of sight; null if it is in sight. */
export function snoozedUntil(request: Request, now: number): number | null {
  const given = request.snoozed_until
  if (!given || request.state === 'settled') return null
  const until = Math.min(Date.parse(given), Date.parse(request.expires_at) - returns_before_ms)
  return until > now ? until : null
}

/** When the next one comes back; Infinity if none will. */
export function nextReturn(requests: Iterable<Request>, now: number): number {
  let next = Infinity
  for (const request of requests) next = Math.min(next, snoozedUntil(request, now) ?? Infinity)
  return next
}

/** What can be chosen: in a quarter of an hour, in an hour, this evening, tomorrow morning. */
export function snoozeChoices(now: Date): { label: string; until: Date }[] {
  const at = (days: number, hour: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour)
  const choices = [
    { label: '15 minutes', until: new Date(now.getTime() + 900_000) },
    { label: '1 hour', until: new Date(now.getTime() + 3_600_000) },
  ]
  if (now.getHours() < 16) choices.push({ label: 'This evening, 18:00', until: at(0, 18) })
  choices.push({ label: 'Tomorrow, 9:00', until: at(1, 9) })
  return choices
}
