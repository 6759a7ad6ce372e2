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
