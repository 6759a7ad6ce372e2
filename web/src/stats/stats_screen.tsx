// How things go: what waits, how it ended, how long it took. Drawn with a few lines of SVG.
import { useEffect, useMemo, type ReactElement } from 'react'
import { client } from '../client'
import { formatSpan } from '../model/time'
import { grouped, outcomes, outcomeWord, plural, risks } from '../model/words'
import { useLoad } from '../state/load'
import { Ago, Figure, Page, PageHead, Problem, Spinner } from '../ui/parts'
import { useGradually } from '../ui/gradually'
import type { Outcome, Request, RiskLevel, Stats } from '../wire'
import { useInbox, wantInbox } from '../state/inbox'
import { byHour, countBy, histogram, medianOf, shares, slowest, sparedOf, type Share, type Spared } from './numbers'

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
                <rect width={row.count && Math.max(0.6, (100 * row.count) / most)} height="8" rx="0" className={row.fill ?? 'fill-accent'} />
              </svg>
            </td>
            <td className="tabular w-16 py-1 pl-3 text-right">{grouped(row.count)}</td>
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

function Panel({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className="rounded-xl border border-line bg-sheet p-5">
      <h2 className="mb-4 text-[0.9375rem]">{title}</h2>
      {children}
    </section>
  )
}

/** One bar for each name, cut by how it ended. */
function Shares({ rows, label }: { rows: Share[]; label: string }) {
  const most = Math.max(1, ...rows.map((row) => row.total))
  if (rows.length === 0) return <p className="m-0 text-faint">Nothing yet.</p>
  return (
    <table className="w-full border-collapse text-[0.875rem]">
      <caption className="sr-only">{label}</caption>
      <tbody>
        {rows.map((row) => {
          const parts = outcomes.flatMap((outcome) => row.parts.filter((part) => part.key === outcome))
          let x = 0
          return (
            <tr key={row.name}>
              <th scope="row" className="foreign-line w-40 max-w-40 py-1 pr-3 text-left font-normal">
                {row.name}
              </th>
              <td className="py-1">
                <svg role="img" aria-label={parts.map((part) => `${part.count} ${outcomeWord[part.key as Outcome].toLowerCase()}`).join(', ')} viewBox="0 0 100 8" preserveAspectRatio="none" className="block h-2 w-full">
                  {parts.map((part) => {
                    const width = (100 * part.count) / most
                    x += width
                    return <rect key={part.key} x={x - width} width={Math.max(0, width - 0.35)} height="8" className={color[part.key as Outcome]} />
                  })}
                </svg>
              </td>
              <td className="tabular w-16 py-1 pl-3 text-right">{grouped(row.total)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

const sparedWord: [keyof Spared, string, string][] = [['by_policy', 'Passed by policy', 'fill-low'], ['by_grant', 'Passed by a grant', 'fill-yes'], ['by_trust', 'Passed by trust', 'fill-accent'], ['asked', 'Asked a person', 'fill-medium']]

/** How many questions nobody had to answer. */
function SparedView({ spared }: { spared: Spared }) {
  const all = spared.by_policy + spared.by_grant + spared.by_trust + spared.asked
  if (all === 0) return <p className="m-0 text-faint">Nothing yet.</p>
  const saved = all - spared.asked
  let x = 0
  return (
    <>
      <p className="m-0 mb-3">
        <b className="tabular text-[1.375rem]">{Math.round((100 * saved) / all)} %</b> <span className="text-soft">of {plural(all, 'call')} needed nobody: {plural(saved, 'question')} saved.</span>
      </p>
      <svg aria-hidden="true" viewBox="0 0 100 8" preserveAspectRatio="none" className="block h-4 w-full">
        {sparedWord.map(([key, , fill]) => {
          const width = (100 * spared[key]) / all
          x += width
          return <rect key={key} x={x - width} width={Math.max(0, width - 0.25)} height="8" className={fill} />
        })}
      </svg>
      <ul className="m-0 mt-3 grid list-none grid-cols-2 gap-x-4 gap-y-1 p-0 text-[0.875rem]">
        {sparedWord.map(([key, label, fill]) => (
          <li key={key} className="flex items-center gap-2">
            <svg aria-hidden="true" viewBox="0 0 8 8" className="size-2.5 shrink-0">
              <rect width="8" height="8" rx="1.5" className={fill} />
            </svg>
            <span className="flex-1">{label}</span> <span className="tabular">{grouped(spared[key])}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

const riskFill: Record<RiskLevel, string> = { critical: 'fill-critical', high: 'fill-high', medium: 'fill-medium', low: 'fill-low' }

function Waiting() {
  useEffect(wantInbox, [])
  const requests = useInbox((inbox) => inbox.requests)
  const waiting = [...requests.values()].filter((request) => request.state === 'pending')
  return <Bars label="Waiting now, by risk" rows={risks.map((risk) => ({ name: `${risk} risk`, count: waiting.filter((request) => request.risk.level === risk).length, fill: riskFill[risk] }))} />
}

function Slowest({ rows }: { rows: { name: string; median_ms: number; count: number }[] }) {
  if (rows.length === 0) return <p className="m-0 text-faint">Nothing yet.</p>
  return (
    <table className="w-full border-collapse text-[0.875rem]">
      <caption className="sr-only">Median time from question to answer, by tool</caption>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <th scope="row" className="foreign-line max-w-0 py-1 pr-3 text-left font-normal">
              {row.name}
            </th>
            <td className="tabular w-24 py-1 text-right font-medium">{formatSpan(row.median_ms)}</td>
            <td className="tabular w-28 py-1 pl-3 text-right text-faint">{plural(row.count, 'decision')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const nothing: Request[] = []
const decidedOf = (settled: Request[]) => settled.filter((request) => request.decision)
const spansOf = (decided: Request[]) => decided.map((request) => Date.parse(request.decision!.at) - Date.parse(request.created_at))

function panelsOf(numbers: Stats, settled: Request[]): ReactElement[] {
  const decided = decidedOf(settled)
  const spans = spansOf(decided)
  const ended = (name: (request: Request) => string | undefined) =>
    shares(settled.flatMap((request) => (request.outcome && name(request) !== undefined ? [{ name: name(request)!, key: request.outcome }] : [])), 8)
  return [
    <Panel key="Questions saved" title="Questions saved">
      <SparedView spared={sparedOf(settled)} />
    </Panel>,
    <Panel key="Waiting now" title="Waiting now">
      <Waiting />
    </Panel>,
    <Panel key="How it ended" title="How it ended">
      <Bars
        label="How it ended"
        rows={outcomes.filter((outcome) => numbers.outcomes[outcome] > 0).map((outcome) => ({ name: outcomeWord[outcome], count: numbers.outcomes[outcome], fill: color[outcome] }))}
      />
    </Panel>,
    <Panel key="Time to decide" title="From question to answer">
      <Columns label="From question to answer" columns={histogram(spans)} />
    </Panel>,
    <Panel key="Settled in the last 24 hours" title="Settled in the last 24 hours">
      <Columns label="Settled by hour" columns={byHour(settled.flatMap((request) => (request.settled_at ? [Date.parse(request.settled_at)] : [])), Date.now())} />
    </Panel>,
    <Panel key="Who decided" title="Who decided">
      <Bars label="Who decided" rows={countBy(decided.map((request) => request.decision!.by), 8)} />
    </Panel>,
    <Panel key="By agent" title="By agent">
      <Shares label="By agent" rows={ended((request) => request.agent)} />
    </Panel>,
    <Panel key="By tool" title="By tool">
      <Shares label="By tool" rows={ended((request) => request.action?.tool)} />
    </Panel>,
    <Panel key="Slowest to be decided" title="Slowest to be decided">
      <Slowest rows={slowest(decided.flatMap((request) => (request.action ? [{ name: request.action.tool, span_ms: Date.parse(request.decision!.at) - Date.parse(request.created_at) }] : [])), 8)} />
    </Panel>,
  ]
}

export default function StatsScreen() {
  const stats = useLoad('stats', client.stats, { every_ms: 5000 })
  const sample = useLoad('sample', readSample, { every_ms: 30_000 })
  const settled = sample.data ?? nothing
  const decided = decidedOf(settled)
  const median = medianOf(spansOf(decided))
  const numbers = stats.data
  const panels = useMemo(() => (numbers ? panelsOf(numbers, settled) : []), [numbers, settled])
  // What is below the fold comes when the top of the page stands.
  const drawn = useGradually(panels.length, 4)
  return (
    <Page>
      <PageHead title="Statistics" />
      <Problem error={stats.error} />
      <Problem error={sample.error} />
      {/* Only when all of it was read: nothing moves when the rest is there. */}
      {!numbers || sample.is_loading ? (
        stats.error === undefined && <Spinner />
      ) : (
        <>
          <div className="mb-8 grid grid-cols-2 gap-6 lg:grid-cols-4">
            <Figure value={grouped(numbers.pending)} label={numbers.oldest_pending_at ? 'waiting now' : 'waiting; nobody is held up'} />
            <Figure value={numbers.oldest_pending_at ? <Ago at={numbers.oldest_pending_at} /> : '–'} label="the oldest was asked" />
            {sample.data && <Figure value={median === null ? '–' : formatSpan(median)} label={`median from question to answer, last ${decided.length}`} />}
            <Figure value={grouped(numbers.decided)} label="decided by people, ever" />
          </div>
          {sample.data && <div className="grid gap-5 lg:grid-cols-2">{panels.slice(0, drawn)}</div>}
          <p className={`mt-5 text-[0.875rem] text-faint ${drawn < panels.length ? 'hidden' : ''}`}>
            Waiting and how it ended count everything stored; the rest looks at the last {plural(settled.length, 'settled request')}. Server {numbers.version}, up for {formatSpan(numbers.uptime_s * 1000)}, {plural(numbers.waiters, 'agent')} waiting, {plural(numbers.streams, 'open stream')}.
          </p>
        </>
      )}
    </Page>
  )
}
