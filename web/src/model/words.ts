// The words people read for the words of the wire.
import { visibleText } from './marked_text'
import type { DecisionKind, EventName, Json, Kind, Outcome, Request, RiskLevel, TimeoutAction } from '../wire'

export const risks: RiskLevel[] = ['critical', 'high', 'medium', 'low']
export const kinds: Kind[] = ['action', 'plan', 'input', 'confirmation', 'response']
export const outcomes: Outcome[] = [
  'approved', 'modified', 'answered', 'rejected', 'deferred', 'aborted', 'expired', 'skipped', 'cancelled', 'allowed', 'denied',
]

export const riskRank: Record<RiskLevel, number> = { low: 0, medium: 1, high: 2, critical: 3 }

export const kindWord: Record<Kind, string> = {
  action: 'Action', plan: 'Plan', input: 'Question', confirmation: 'Confirmation', response: 'Final answer',
}

export const outcomeWord: Record<Outcome, string> = {
  allowed: 'Allowed by policy', denied: 'Denied by policy', approved: 'Approved', modified: 'Approved with changes',
  rejected: 'Rejected', deferred: 'Deferred', aborted: 'Aborted', answered: 'Answered', skipped: 'Skipped',
  expired: 'Expired', cancelled: 'Withdrawn',
}

export const decisionWord: Record<DecisionKind, string> = {
  approve: 'approved', reject: 'rejected', modify: 'approved with changes', defer: 'deferred', escalate: 'escalated',
  abort: 'aborted', answer: 'answered',
}

/** What somebody did to a word like “it” or “this”. */
export const didTo = (kind: DecisionKind, what: string): string => (kind === 'modify' ? `approved ${what} with changes` : `${decisionWord[kind]} ${what}`)

export const decidingWord: Record<DecisionKind, string> = {
  approve: 'Approving', reject: 'Rejecting', modify: 'Approving with changes', defer: 'Deferring', escalate: 'Escalating',
  abort: 'Aborting', answer: 'Answering',
}

const timeoutWords: Record<Exclude<TimeoutAction, 'reject'>, string> = {
  approve: 'it runs by itself', retry: 'it is asked again', escalate: 'others are asked', abort: 'the whole run stops',
  skip: 'it is skipped', default: 'policy decides',
}
const unanswered: Record<Kind, string> = {
  action: 'it is not run', plan: 'it is not carried out', input: 'it stays unanswered', confirmation: 'it counts as no', response: 'it is not sent',
}

/** What happens when nobody decides, as the end of “4:12 left, then …”. */
export const timeoutWord = (request: Request): string =>
  request.on_timeout === 'reject' ? unanswered[request.kind] : timeoutWords[request.on_timeout]

export const eventWord: Record<EventName, string> = {
  'approval-required': 'asked', 'decision-recorded': 'voted', 'request-settled': 'settled it', 'request-reminded': 'reminder sent',
  'request-escalated': 'escalated', 'request-retried': 'asked again', 'request-extended': 'prolonged', 'tool-result': 'reported the result',
  'decision-held': 'decided, to take effect soon', 'decision-undone': 'took the decision back',
}

export const reversibilityWord = { fully: 'can be undone', partially: 'can partly be undone', irreversible: 'cannot be undone' }

export function reversibilityOf(request: Request): keyof typeof reversibilityWord | null {
  if (request.risk.reversibility) return request.risk.reversibility
  if (request.action?.reversible === false) return 'irreversible'
  if (request.action?.reversible === true) return 'fully'
  return null
}

/** What the agent says about the risk itself, one line each; null if it says nothing. */
export function claimedRisk(claimed: Json): string | null {
  if (typeof claimed === 'string') return `${claimed} risk`
  if (typeof claimed !== 'object' || claimed === null || Array.isArray(claimed)) return null
  const lines: string[] = []
  if (typeof claimed['level'] === 'string') lines.push(`${claimed['level']} risk`)
  const reversibility = claimed['reversibility']
  if (reversibility === 'fully' || reversibility === 'partially' || reversibility === 'irreversible') lines.push(reversibilityWord[reversibility])
  for (const name of ['factors', 'consequences']) {
    const list = claimed[name]
    if (Array.isArray(list)) lines.push(...list.filter((item): item is string => typeof item === 'string'))
  }
  return lines.length ? lines.join('\n') : null
}

/** What the agent itself says will come of it: more to the point than what can be told of any such call. */
export function claimedConsequences(claimed: Json): string[] {
  const list = typeof claimed === 'object' && claimed !== null && !Array.isArray(claimed) ? claimed['consequences'] : null
  return Array.isArray(list) ? list.filter((item): item is string => typeof item === 'string' && item !== '') : []
}

/** What its buttons say: the word of the page first, since those of the agent may mean the opposite. */
export const confirmationLabels = ({ confirm_label, cancel_label }: NonNullable<Request['confirmation']>): { yes: string; no: string } => ({ yes: `Yes: ${visibleText(confirm_label)}`, no: `No: ${visibleText(cancel_label)}` })

/** The tool of an action, or what else is asked. */
export const subjectOf = (request: Request): string => request.action?.tool ?? kindWord[request.kind]

/** What the server says without the word it puts in front of it; the screen shows the kind apart. */
export function titleOf(request: Request): string {
  switch (request.kind) {
    case 'action':
      return request.headline
    case 'plan':
      return request.plan?.title ?? request.headline
    case 'input':
      return request.input?.question ?? request.headline
    case 'confirmation':
      return request.confirmation?.message ?? request.headline
    case 'response':
      return request.response?.text ?? request.headline
  }
}

/** True when the server had no sentence for this tool and printed the call itself. */
export const isPlainCall = (request: Request): boolean =>
  request.kind === 'action' && request.headline.startsWith(`${request.action?.tool}(`)

/** A whole number with its thousands apart. By hand: the first formatter of a page costs more than everything else on it. */
export const grouped = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')

export const plural = (count: number, one: string, many = one + 's'): string => `${grouped(count)} ${count === 1 ? one : many}`
