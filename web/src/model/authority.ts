// Who may decide what. The server is the judge; this only keeps the page from offering what it would refuse.
import type { DecisionKind, Me, Request, Requirement } from '../wire'
import { hasVoted } from './order'

type Line = Requirement['lines'][number]

/** The groups of a line. Who is in the others counts as well. */
const groupsOf = (line: Line): string[] => [...(line.group === null ? [] : [line.group]), ...(line.other_groups ?? [])]

const isAnybody = (line: Line): boolean => groupsOf(line).length === 0 && !line.people?.length

const isInLine = (line: Line, me: Me): boolean =>
  isAnybody(line) || groupsOf(line).some((group) => me.groups.includes(group)) || (line.people?.includes(me.name) ?? false)

/** Nothing, or why this person cannot decide this request. */
export function whyNotDecide(request: Request, me: Me): string | null {
  if (request.state === 'settled') return 'it is settled'
  if (me.role !== 'approver' && me.role !== 'admin') return 'you may look, not decide'
  if (request.requirement.exclude_requester && request.user === me.name) return 'it was asked on your behalf, so others decide it'
  if (request.requirement.exclude_requester && request.owner === me.name) return 'the agent is yours, so others decide it'
  if (!request.requirement.lines.some((line) => isInLine(line, me))) return `it is for ${whoDecides(request)}`
  return null
}

export function whoDecides(request: Request): string {
  const lines = request.requirement.lines.map((line) => {
    const groups = groupsOf(line)
    const named = groups.length ? [`${groups.length > 1 ? 'groups' : 'group'} ${groups.join(' or ')}`] : []
    const who = isAnybody(line) ? 'any approver' : [...named, ...(line.people ?? [])].join(' or ')
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
