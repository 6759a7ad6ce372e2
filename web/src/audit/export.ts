// Events as files: JSON lines with everything, CSV with what fits a table.
import type { Event, Json } from '../wire'

export const toJsonLines = (events: Event[]): string => events.map((event) => JSON.stringify(event) + '\n').join('')

/** The reason of this very event; that of the request is of whoever decided last. */
const reasonIn = (detail: Json): string | null => {
  const reason = detail !== null && typeof detail === 'object' && !Array.isArray(detail) ? detail.reason : null
  return typeof reason === 'string' ? reason : null
}

const columns: [string, (event: Event) => string | number | null | undefined][] = [
  ['seq', (event) => event.seq],
  ['at', (event) => event.at],
  ['event', (event) => event.type],
  ['actor', (event) => event.actor],
  ['via', (event) => event.via],
  ['address', (event) => event.address],
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
  ['reason', (event) => reasonIn(event.detail)],
  ['headline', (event) => event.request.headline],
  ['digest', (event) => event.request.digest],
]

/** The newest `count` of what is added one after the other. */
export class Newest<T> {
  private items: T[] = []
  has_dropped = false

  constructor(private readonly count: number) {}

  add(item: T): void {
    this.items.push(item)
    // Now and then, not each time: what falls out is moved for.
    if (this.items.length >= this.count * 2 + 100) this.trim()
  }

  all(): T[] {
    this.trim()
    return this.items
  }

  private trim(): void {
    if (this.items.length <= this.count) return
    this.has_dropped = true
    this.items = this.items.slice(this.items.length - this.count)
  }
}

const two = (number: number): string => String(number).padStart(2, '0')
/** The day on the calendar of whoever takes the file, as the page shows it. */
const dayOf = (moment: Date): string => `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`

/** A file that does not hold everything says so in its name: where it begins, and that events between are left out. */
export const fileName = (now: Date, { from, is_filtered }: { from: number; is_filtered: boolean }, ending: string): string =>
  `holdpoint-${dayOf(now)}${from > 0 ? `-after-${from}` : ''}${is_filtered ? '-filtered' : ''}.${ending}`

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
