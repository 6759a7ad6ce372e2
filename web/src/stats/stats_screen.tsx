// How things go: what waits, how it ended, how long it took. Drawn with a few lines of SVG.
import { client } from '../client'
import { sentence } from '../errors'
import { formatSpan } from '../model/time'
import { outcomes, outcomeWord, plural } from '../model/words'
import { useLoad } from '../state/load'
import { Ago, PageHead, Spinner } from '../ui/parts'
import type { Outcome, Request } from '../wire'
import { byHour, countBy, histogram, medianOf } from './numbers'

const sample_pages = 5

async function readSample(): Promise<Request[]> {
  const found: Request[] = []
  let cursor: string | null = null
  for (let page = 0; page < sample_pages; ++page) {
    const answer: { requests: Request[]; next_cursor: string | null } = await client.list({ state: 'settled', limit: '100', ...(cursor ? { cursor } : {}) })
    found.push(...answer.requests)
    cursor = answer.next_cursor
    if (!cursor) break
  }
  return found
}

const color: Record<Outcome, string> = {
  approved: 'fill-yes', modified: 'fill-yes', answered: 'fill-yes', rejected: 'fill-no', denied: 'fill-no', aborted: 'fill-no',
  deferred: 'fill-medium', expired: 'fill-high', skipped: 'fill-edge', cancelled: 'fill-edge', allowed: 'fill-low',
}

function Bars({ rows, label }: { rows: { name: string; count: number; fill?: string }[]; label: string }) {
  const most = Math.max(1, ...rows.map((row) => row.count))
  if (rows.length === 0) return <p className="m-0 text-faint">Nothing yet.</p>
  return (
    <table className="w-full border-collapse text-[0.875rem]">
      <caption className="sr-only">{label}</caption>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <th scope="row" className="foreign-line w-40 max-w-40 py-1 pr-3 text-left font-normal">
              {row.name}
            </th>
            <td className="py-1">
              <svg aria-hidden="true" viewBox="0 0 100 8" preserveAspectRatio="none" className="block h-2 w-full overflow-visible">
                <rect width={Math.max(0.6, (100 * row.count) / most)} height="8" rx="0" className={row.fill ?? 'fill-accent'} />
              </svg>
            </td>
            <td className="tabular w-16 py-1 pl-3 text-right">{row.count.toLocaleString('en')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Columns({ columns, label }: { columns: { name: string; count: number; shows_name: boolean }[]; label: string }) {
  const most = Math.max(1, ...columns.map((column) => column.count))
  const width = 100 / columns.length
  return (
    <figure className="m-0">
      <svg role="img" aria-label={`${label}: ${columns.filter((column) => column.count).map((column) => `${column.name} ${column.count}`).join(', ')}`} viewBox="0 0 100 36" preserveAspectRatio="none" className="block h-32 w-full">
        {columns.map((column, i) => (
          <rect key={i} x={i * width + width * 0.12} width={width * 0.76} y={36 - (column.count / most) * 35} height={(column.count / most) * 35} className="fill-accent" />
        ))}
        <line x1="0" x2="100" y1="36" y2="36" className="stroke-edge" strokeWidth="1" vectorEffect="non-scaling-stroke" />
      </svg>
      <div aria-hidden="true" className="mt-1 flex text-[0.75rem] text-faint">
        {columns.map((column, i) => (
          <span key={i} className="min-w-0 flex-1 text-center">
            {column.shows_name ? column.name : ''}
          </span>
        ))}
      </div>
    </figure>
  )
}

function Figure({ value, label }: { value: React.ReactNode; label: string }) {
  return (
    <div className="border-l-2 border-line pl-4">
      <p className="tabular m-0 text-[1.75rem] font-semibold leading-9 tracking-tight">{value}</p>
      <p className="m-0 text-[0.875rem] text-soft">{label}</p>
    </div>
  )
}

function Panel({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className="rounded-xl border border-line bg-sheet p-5">
      <h2 className="mb-4 text-[0.9375rem]">{title}</h2>
      {children}
    </section>
  )
}

export default function StatsScreen() {
  const stats = useLoad('stats', client.stats, { every_ms: 5000 })
  const sample = useLoad('sample', readSample, { every_ms: 30_000 })
  const settled = sample.data ?? []
  const decided = settled.filter((request) => request.decision)
  const spans = decided.map((request) => Date.parse(request.decision!.at) - Date.parse(request.created_at))
  const median = medianOf(spans)
  const numbers = stats.data
  return (
    <main id="main" tabIndex={0} className="relative min-h-0 flex-1 overflow-y-auto focus-visible:-outline-offset-2">
      <div className="mx-auto max-w-6xl px-5 py-8 md:px-8">
        <PageHead title="Statistics" />
        {stats.error !== undefined && <p role="alert" className="text-no">{sentence(stats.error)}</p>}
        {!numbers ? (
          <Spinner />
        ) : (
          <>
            <div className="mb-8 grid grid-cols-2 gap-6 lg:grid-cols-4">
              <Figure value={numbers.pending.toLocaleString('en')} label={numbers.oldest_pending_at ? 'waiting now' : 'waiting; nobody is held up'} />
              <Figure value={numbers.oldest_pending_at ? <Ago at={numbers.oldest_pending_at} /> : '–'} label="the oldest was asked" />
              <Figure value={median === null ? '–' : formatSpan(median)} label={`median time to decide, last ${decided.length}`} />
              <Figure value={numbers.decided.toLocaleString('en')} label="decided by people, ever" />
            </div>
            <div className="grid gap-5 lg:grid-cols-2">
              <Panel title="How it ended">
                <Bars
                  label="How it ended"
                  rows={outcomes.filter((outcome) => numbers.outcomes[outcome] > 0).map((outcome) => ({ name: outcomeWord[outcome], count: numbers.outcomes[outcome], fill: color[outcome] }))}
                />
              </Panel>
              <Panel title="Time to decide">
                <Columns label="Time to decide" columns={histogram(spans)} />
              </Panel>
              <Panel title="Settled in the last 24 hours">
                <Columns label="Settled by hour" columns={byHour(settled.flatMap((request) => (request.settled_at ? [Date.parse(request.settled_at)] : [])), Date.now())} />
              </Panel>
              <Panel title="Who decided">
                <Bars label="Who decided" rows={countBy(decided.map((request) => request.decision!.by), 8)} />
              </Panel>
              <Panel title="By agent">
                <Bars label="By agent" rows={countBy(settled.map((request) => request.agent), 8)} />
              </Panel>
              <Panel title="By tool">
                <Bars label="By tool" rows={countBy(settled.flatMap((request) => request.action?.tool ?? []), 8)} />
              </Panel>
            </div>
            <p className="mt-5 text-[0.875rem] text-faint">
              Waiting and outcomes count everything stored; the rest looks at the last {plural(settled.length, 'settled request')}. Server {numbers.version}, up for {formatSpan(numbers.uptime_s * 1000)}, {plural(numbers.waiters, 'agent')} waiting, {plural(numbers.streams, 'open stream')}.
            </p>
          </>
        )}
      </div>
    </main>
  )
}
