// What of the inbox is shown. The filter lives in the address, so that a view can be kept and sent.
import type { Kind, Request, RiskLevel } from '../wire'
import { kinds, risks } from './words'

export type Filter = { text: string; risk: RiskLevel | null; kind: Kind | null; agent: string | null; tool: string | null; mine: boolean; snoozed: boolean }

export const no_filter: Filter = { text: '', risk: null, kind: null, agent: null, tool: null, mine: false, snoozed: false }

export const isFiltering = (filter: Filter): boolean => writeFilter(filter) !== ''

function oneOf<T extends string>(value: string | null, words: T[]): T | null {
  return words.find((word) => word === value) ?? null
}

export function readFilter(search: string): Filter {
  const query = new URLSearchParams(search)
  return {
    text: query.get('q') ?? '',
    risk: oneOf(query.get('risk'), risks),
    kind: oneOf(query.get('kind'), kinds),
    agent: query.get('agent'),
    tool: query.get('tool'),
    mine: query.get('mine') === '1',
    snoozed: query.get('snoozed') === '1',
  }
}

/** `?…`, or nothing. */
export function writeFilter(filter: Filter): string {
  const query = new URLSearchParams()
  if (filter.text) query.set('q', filter.text)
  if (filter.risk) query.set('risk', filter.risk)
  if (filter.kind) query.set('kind', filter.kind)
  if (filter.agent) query.set('agent', filter.agent)
  if (filter.tool) query.set('tool', filter.tool)
  if (filter.mine) query.set('mine', '1')
  if (filter.snoozed) query.set('snoozed', '1')
  const text = query.toString()
  return text ? `?${text}` : ''
}

const texts = new WeakMap<Request, string>()

function textOf(request: Request): string {
  let text = texts.get(request)
  if (text === undefined) {
    const subject = request.action?.arguments ?? request.plan ?? request.input ?? request.confirmation ?? request.response
    const parts = [request.headline, request.agent, request.user, request.session, request.thread, request.task, request.id]
    text = `${parts.filter(Boolean).join('\n')}\n${JSON.stringify(subject)}`.toLowerCase()
    texts.set(request, text)
  }
  return text
}

/** `is_mine` says whether this person may decide it. Every word of the text must occur. */
export function matches(request: Request, filter: Filter, is_mine: boolean): boolean {
  if (filter.risk && request.risk.level !== filter.risk) return false
  if (filter.kind && request.kind !== filter.kind) return false
  if (filter.agent && request.agent !== filter.agent) return false
  if (filter.tool && request.action?.tool !== filter.tool) return false
  if (filter.mine && !is_mine) return false
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean)
  return words.every((word) => textOf(request).includes(word))
}
