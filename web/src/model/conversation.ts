// The requests of one session, told as the conversation they are: what the user wanted, what the agent says and asks, what
// people answered, and what came of it.
import type { Json, Report, Request } from '../wire'
import { decisionWord, kindWord } from './words'

export type Entry =
  | { type: 'user'; key: string; by: string; text: string; at: string }
  | { type: 'agent'; key: string; by: string; text: string; at: string }
  | { type: 'ask'; key: string; request: Request; at: string }
  | { type: 'person'; key: string; by: string; what: string; text: string | null; answer: Json | undefined; at: string }
  | { type: 'event'; key: string; text: string; tone: 'plain' | 'bad'; at: string }
  | { type: 'result'; key: string; tool: string; report: Report; at: string }

const textIn = (context: Request['context'], name: string): string | null => {
  const value = context?.[name]
  return typeof value === 'string' && value.trim() ? value : null
}

function endOf(request: Request): Entry[] {
  const { decision, outcome, settled_at, id } = request
  if (request.state === 'pending' || !outcome || !settled_at) return []
  if (decision) {
    const text = decision.reason ?? decision.guidance ?? decision.note
    return [{ type: 'person', key: `${id} decision`, by: decision.by, what: decisionWord[decision.kind], text, answer: decision.kind === 'answer' ? (decision.answer ?? null) : undefined, at: decision.at }]
  }
  const words: Partial<Record<typeof outcome, string>> = {
    allowed: request.verdict.rule === 'grant' ? 'passed by a grant, without asking' : 'passed by policy, without asking', denied: 'denied by policy', expired: 'nobody decided in time',
    cancelled: 'withdrawn by the agent', skipped: 'skipped', aborted: 'ended with the whole run',
  }
  const because = outcome === 'denied' && request.verdict.because ? `: ${request.verdict.because}` : ''
  return [{ type: 'event', key: `${id} end`, text: (words[outcome] ?? outcome) + because, tone: outcome === 'denied' || outcome === 'expired' || outcome === 'aborted' ? 'bad' : 'plain', at: settled_at }]
}

/** Entries in the order in which things happened. What the user wanted is said once, not with every call. */
export function conversationOf(requests: Iterable<Request>): Entry[] {
  const ordered = [...requests].sort((a, b) => (a.created_at === b.created_at ? (a.id < b.id ? -1 : 1) : a.created_at < b.created_at ? -1 : 1))
  const entries: Entry[] = []
  let prompt: string | null = null
  let said: string | null = null
  for (const request of ordered) {
    const { id, created_at: at, agent, context } = request
    const wanted = textIn(context, 'user_prompt')
    if (wanted && wanted !== prompt) {
      entries.push({ type: 'user', key: `${id} prompt`, by: request.user ?? 'user', text: wanted, at })
      prompt = wanted
    }
    const says = textIn(context, 'current_reasoning') ?? request.action?.description ?? null
    if (says && says !== said) entries.push({ type: 'agent', key: `${id} says`, by: agent, text: says, at })
    said = says
    entries.push({ type: 'ask', key: id, request, at })
    entries.push(...endOf(request))
    if (request.report) entries.push({ type: 'result', key: `${id} report`, tool: request.action?.tool ?? kindWord[request.kind], report: request.report, at: request.report.at })
  }
  // Several calls of one turn are asked together and answered one by one.
  return entries.map((entry, i) => ({ entry, i })).sort((a, b) => (a.entry.at < b.entry.at ? -1 : a.entry.at > b.entry.at ? 1 : a.i - b.i)).map(({ entry }) => entry)
}

export type SessionSummary = { session: string; agent: string; last_at: string; waiting: number; title: string }

/** Sessions of these requests, the latest first. */
export function sessionsOf(requests: Iterable<Request>): SessionSummary[] {
  const found = new Map<string, SessionSummary>()
  for (const request of requests) {
    if (!request.session) continue
    const old = found.get(request.session)
    const title = textIn(request.context, 'user_prompt') ?? textIn(request.context, 'task_description')
    const waiting = request.state === 'pending' ? 1 : 0
    if (!old) found.set(request.session, { session: request.session, agent: request.agent, last_at: request.created_at, waiting, title: title ?? '' })
    else found.set(request.session, { ...old, waiting: old.waiting + waiting, title: old.title || (title ?? ''), last_at: request.created_at > old.last_at ? request.created_at : old.last_at })
  }
  return [...found.values()].sort((a, b) => (a.last_at < b.last_at ? 1 : -1))
}
