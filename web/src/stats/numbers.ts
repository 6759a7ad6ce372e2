// The arithmetic behind the charts.
import { visibleText } from '../model/marked_text'

export function medianOf(values: number[]): number | null {
  if (values.length === 0) return null
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** How often each name occurs, the most frequent first, the rest as one. */
export function countBy(names: string[], rows_max: number): { name: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  const rows = [...counts].sort((a, b) => b[1] - a[1]).map(([name, count]) => ({ name: visibleText(name), count }))
  if (rows.length <= rows_max) return rows
  const rest = rows.slice(rows_max - 1)
  return [...rows.slice(0, rows_max - 1), { name: `${rest.length} others`, count: rest.reduce((sum, row) => sum + row.count, 0) }]
}

const edges: [number, string][] = [
  [2, '2 s'], [5, '5 s'], [10, '10 s'], [30, '30 s'], [60, '1 min'], [300, '5 min'], [900, '15 min'], [3600, '1 h'], [Infinity, 'more'],
]

export type Column = { name: string; count: number; shows_name: boolean }

/** How many took at most so long. */
export function histogram(spans_ms: number[]): Column[] {
  const columns = edges.map(([, name]) => ({ name, count: 0, shows_name: true }))
  for (const span of spans_ms) {
    const at = edges.findIndex(([limit]) => span / 1000 <= limit)
    columns[at]!.count += 1
  }
  return columns
}

/** How many fell into each of the last 24 hours, this one last. */
export function byHour(moments: number[], now: number): Column[] {
  const hour = 3_600_000
  const end = Math.floor(now / hour) + 1
  const columns: Column[] = Array.from({ length: 24 }, (_, i) => {
    const start = new Date((end - 24 + i) * hour)
    return { name: String(start.getHours()).padStart(2, '0'), count: 0, shows_name: i % 4 === 3 }
  })
  for (const moment of moments) {
    const at = 23 - (end - 1 - Math.floor(moment / hour))
    if (at >= 0 && at < 24) columns[at]!.count += 1
  }
  return columns
}

export type Spared = { by_policy: number; by_grant: number; by_trust: number; asked: number }

/** Which of these needed nobody, and why; denied ones needed nobody either, but saved no question. */
export function sparedOf(requests: { outcome: string | null; verdict: { kind: string; rule: string | null } }[]): Spared {
  const found: Spared = { by_policy: 0, by_grant: 0, by_trust: 0, asked: 0 }
  for (const { outcome, verdict } of requests) {
    if (outcome === 'denied') continue
    if (outcome !== 'allowed') found.asked += 1
    else if (verdict.rule === 'grant') found.by_grant += 1
    else if (verdict.rule === 'trust') found.by_trust += 1
    else found.by_policy += 1
  }
  return found
}

export type Share = { name: string; total: number; parts: { key: string; count: number }[] }

/** For each name, how often each key occurs; the most frequent names first. */
export function shares(rows: { name: string; key: string }[], rows_max: number): Share[] {
  const found = new Map<string, Map<string, number>>()
  for (const { name, key } of rows) {
    const own = found.get(name) ?? new Map<string, number>()
    own.set(key, (own.get(key) ?? 0) + 1)
    found.set(name, own)
  }
  return [...found]
    .map(([name, own]) => ({ name: visibleText(name), total: [...own.values()].reduce((sum, count) => sum + count, 0), parts: [...own].map(([key, count]) => ({ key, count })) }))
    .sort((a, b) => b.total - a.total)
    .slice(0, rows_max)
}

/** The middle time for each name, the slowest first. */
export function slowest(rows: { name: string; span_ms: number }[], rows_max: number): { name: string; median_ms: number; count: number }[] {
  const spans = new Map<string, number[]>()
  for (const { name, span_ms } of rows) spans.set(name, [...(spans.get(name) ?? []), span_ms])
  return [...spans]
    .map(([name, own]) => ({ name: visibleText(name), median_ms: medianOf(own)!, count: own.length }))
    .sort((a, b) => b.median_ms - a.median_ms)
    .slice(0, rows_max)
}
