// Events as files: JSON lines with everything, CSV with what fits a table.
import type { Event } from '../wire'

export const toJsonLines = (events: Event[]): string => events.map((event) => JSON.stringify(event) + '\n').join('')

const columns: [string, (event: Event) => string | number | null | undefined][] = [
  ['seq', (event) => event.seq],
  ['at', (event) => event.at],
  ['event', (event) => event.type],
  ['actor', (event) => event.actor],
  ['request', (event) => event.request.id],
  ['kind', (event) => event.request.kind],
  ['agent', (event) => event.request.agent],
  ['tool', (event) => event.request.action?.tool],
  ['user', (event) => event.request.user],
  ['session', (event) => event.request.session],
  ['risk', (event) => event.request.risk.level],
  ['rule', (event) => event.request.verdict.rule],
  ['outcome', (event) => event.request.outcome],
  ['decided_by', (event) => event.request.decision?.by],
  ['headline', (event) => event.request.headline],
  ['digest', (event) => event.request.digest],
]

/** One cell. A spreadsheet runs what begins like a formula, so such a cell gets a mark in front. */
export function csvCell(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const safe = /^[\s]*[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\n\r]/.test(safe) || safe !== value ? `"${safe.replaceAll('"', '""')}"` : safe
}

export function toCsv(events: Event[]): string {
  const rows = [columns.map(([name]) => name).join(','), ...events.map((event) => columns.map(([, read]) => csvCell(read(event))).join(','))]
  return rows.join('\r\n') + '\r\n'
}
