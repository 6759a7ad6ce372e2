// Who may decide what. The server is the judge; this only keeps the page from offering what it would refuse.
import type { DecisionKind, Me, Request } from '../wire'
import { hasVoted } from './order'

/** Nothing, or why this person cannot decide this request. */
export function whyNotDecide(request: Request, me: Me): string | null {
  if (request.state === 'settled') return 'it is settled'
  if (me.role !== 'approver' && me.role !== 'admin') return 'you may look, not decide'
  if (request.requirement.exclude_requester && request.user === me.name) return 'it was asked on your behalf, so others decide it'
  if (request.requirement.exclude_requester && request.owner === me.name) return 'the agent is yours, so others decide it'
  const is_in_line = request.requirement.lines.some(
    (line) =>
      (line.group === null && line.people === null) ||
      (line.group !== null && me.groups.includes(line.group)) ||
      (line.people?.includes(me.name) ?? false),
  )
  if (!is_in_line) return `it is for ${whoDecides(request)}`
  return null
}

export function whoDecides(request: Request): string {
  const lines = request.requirement.lines.map((line) => {
    const who = line.group !== null ? `group ${line.group}` : (line.people?.join(' or ') ?? 'any approver')
    return line.quorum > 1 ? `${line.quorum} of ${who}` : who
  })
  return lines.join(' and ')
}

/** How many more people it takes. */
export const missingVotes = (request: Request): number =>
  request.requirement.lines.reduce((sum, line) => sum + Math.max(0, line.quorum - line.have), 0)

/** Whether one person's approval may also cover similar actions: what several release, one cannot grant. */
export const mayGrant = (request: Request): boolean =>
  request.kind === 'action' && request.requirement.lines.reduce((sum, line) => sum + line.quorum, 0) === 1

/** What can be done with this kind of request, in the order of the bar. */
export function decisionsFor(request: Request): DecisionKind[] {
  const can_modify = request.requirement.modifiable && (request.kind !== 'plan' || (request.plan?.modifiable ?? false))
  switch (request.kind) {
    case 'input':
      return ['answer', 'reject', 'defer', 'escalate', 'abort']
    case 'confirmation':
      return ['approve', 'reject', 'defer', 'escalate', 'abort']
    case 'action':
    case 'plan':
    case 'response':
      return can_modify
        ? ['approve', 'reject', 'modify', 'defer', 'escalate', 'abort']
        : ['approve', 'reject', 'defer', 'escalate', 'abort']
  }
}

export const waitsForOthers = (request: Request, me: Me): boolean => request.state === 'pending' && hasVoted(request, me.name)
