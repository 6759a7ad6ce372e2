// Everything that happened to requests, newest first, as the server recorded it; to look through and to take away.
import { memo, useEffect, useMemo, useRef, useState } from 'react'
import { Link } from 'wouter'
import { client, type ListQuery } from '../client'
import { visibleText } from '../model/marked_text'
import { formatMoment } from '../model/time'
import { didTo, eventWord, grouped, outcomes, outcomeWord, plural, risks } from '../model/words'
import { PickFilter, TextFilter, useFilters } from '../ui/filters'
import { useGradually } from '../ui/gradually'
import { RiskBars } from '../ui/icons'
import { OutcomeTag, Page, PageHead, Problem, riskColor, Spinner } from '../ui/parts'
import { Title } from '../ui/title'
import type { Event, EventName } from '../wire'
import { fileName, Newest, toCsv, toJsonLines } from './export'

const window_size = 400
const filtered_window_size = 5000
const events_max = 50_000

const names = ['agent', 'tool', 'session', 'user', 'outcome', 'risk'] as const

/** `events` are all that fit after number `from`, without a gap. */
type Reading = { events: Event[]; from: number; is_busy: boolean; error: unknown; is_full: boolean }
const nothing: Reading = { events: [], from: 0, is_busy: true, error: undefined, is_full: false }

/** About the newest event there is: the last one of the newest request. Whatever came later is read too. */
async function newestSeq(): Promise<number> {
  const { requests } = await client.list({ limit: '1' })
  if (!requests[0]) return 0
  const { events } = await client.timeline(requests[0].id)
  return Math.max(0, ...events.map((event) => event.seq))
}

function useEvents(query: ListQuery): Reading & { readOlder: (is_all: boolean) => Promise<void>; renew: () => void } {
  const [reading, setReading] = useState<Reading>(nothing)
  const [round, setRound] = useState(0)
  const key = JSON.stringify(query)
  const stop = useRef<AbortController>(new AbortController())
  const size = Object.keys(query).length ? filtered_window_size : window_size

  const read = async (after: number, until: number, before: Event[], signal: AbortSignal) => {
    setReading((old) => ({ ...old, is_busy: true, error: undefined }))
    const newest = new Newest<Event>(events_max - before.length)
    try {
      await client.pastEvents(query, after, until, (event) => newest.add(event), signal)
      const found = newest.all()
      // What did not fit is the oldest of it, so that nothing is missing in between.
      const from = newest.has_dropped ? (found[0] ?? before[0])!.seq - 1 : after
      if (!signal.aborted) setReading({ events: [...found, ...before], from, is_busy: false, error: undefined, is_full: found.length + before.length >= events_max })
    } catch (error) {
      if (!signal.aborted) setReading((old) => ({ ...old, is_busy: false, error }))
    }
  }
  useEffect(() => {
    const mine = (stop.current = new AbortController())
    setReading(nothing)
    const begin = async () => {
      try {
        const newest = await newestSeq()
        if (!mine.signal.aborted) await read(Math.max(0, newest - size), Infinity, [], mine.signal)
      } catch (error) {
        if (!mine.signal.aborted) setReading((old) => ({ ...old, is_busy: false, error }))
      }
    }
    void begin()
    return () => mine.abort()
    // `key` stands for the query.
  }, [key, round])
  // Without a filter every number is an event: what would not fit need not be read.
  const all_from = Object.keys(query).length ? 0 : Math.max(0, reading.from - (events_max - reading.events.length))
  return {
    ...reading,
    readOlder: (is_all) => read(is_all ? all_from : Math.max(0, reading.from - size), reading.from, reading.events, stop.current.signal),
    renew: () => setRound((old) => old + 1),
  }
}

/** What the actor did, in a word or two. Policy settles at once what an agent asks and nobody need decide. */
function happened({ type, request }: Event): string {
  if (type !== 'request-settled') return eventWord[type]
  if (request.outcome === 'allowed' || request.outcome === 'denied') return 'asked'
  return request.decision ? didTo(request.decision.kind, 'it') : request.outcome === 'cancelled' ? 'withdrew it' : 'settled it'
}

function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

const Row = memo(function Row({ event }: { event: Event }) {
  const { request } = event
  return (
    <li className="border-b border-line">
      <Link href={`/r/${request.id}`} className="grid grid-cols-[1fr_auto] items-baseline gap-x-4 gap-y-0.5 px-2 py-2 text-[0.875rem] hover:bg-well md:grid-cols-[4.5rem_10.5rem_15rem_1fr_10rem]">
        <span className="tabular hidden text-right text-faint md:block">{event.seq}</span>
        <time dateTime={event.at} className="tabular order-2 text-right text-faint md:order-none md:text-left">
          {formatMoment(event.at)}
        </time>
        <span className="foreign-line order-1 min-w-0 md:order-none">
          <b className="font-medium">{visibleText(event.actor || 'the server')}</b> <span className="text-soft">{happened(event)}</span>
        </span>
        <span className="foreign-line order-3 flex min-w-0 items-center gap-2 md:order-none">
          <span className={`shrink-0 ${riskColor[request.risk.level]}`}>
            <RiskBars level={request.risk.level} size={13} />
          </span>
          <span className="foreign-line min-w-0">
            <Title request={request} />
          </span>
        </span>
        <span className="order-4 text-right md:order-none md:text-left">{event.type === 'request-settled' && request.outcome && <OutcomeTag outcome={request.outcome} />}</span>
      </Link>
    </li>
  )
})

const rows_step = 200

export default function AuditScreen() {
  const filters = useFilters('/audit')
  const { search, given } = filters
  const query: ListQuery = {}
  for (const name of names) {
    const value = given.get(name)
    if (value) query[name] = value
  }
  const type = given.get('event')
  const { events, from, is_busy, error, is_full, readOlder, renew } = useEvents(query)
  const shown = useMemo(() => events.filter((event) => !type || event.type === type).toReversed(), [events, type])
  const [rows, setRows] = useState(rows_step)
  const drawn = useGradually(Math.min(rows, shown.length))
  const has_all = drawn >= Math.min(rows, shown.length)
  const [shows_filters, showFilters] = useState(search !== '')
  // Each letter would start another stream.
  const write = (name: string, label: string) => <TextFilter filters={filters} name={name} label={label} is_read_when_left />
  const oldest_first = () => shown.toReversed()
  const is_filtered = Object.keys(query).length > 0 || Boolean(type)
  const nameOf = (ending: string) => fileName(new Date(), { from, is_filtered }, ending)
  return (
    <Page>
      <PageHead title="Audit">
        <div className="flex flex-wrap gap-2">
          <button type="button" className="btn" disabled={shown.length === 0} onClick={() => download(nameOf('jsonl'), 'application/x-ndjson', toJsonLines(oldest_first()))}>
            Export JSON lines
          </button>
          <button type="button" className="btn" disabled={shown.length === 0} onClick={() => download(nameOf('csv'), 'text/csv', toCsv(oldest_first()))}>
            Export CSV
          </button>
        </div>
      </PageHead>
      <button type="button" className="btn mb-4 sm:hidden" aria-expanded={shows_filters} onClick={() => showFilters(!shows_filters)}>
        Filters
      </button>
      <div role="search" className={`mb-4 grid-cols-2 gap-3 sm:grid sm:grid-cols-4 lg:grid-cols-7 ${shows_filters ? 'grid' : 'hidden'}`}>
        <PickFilter filters={filters} name="event" label="Event" options={(Object.keys(eventWord) as EventName[]).map((name) => [name, eventWord[name]])} />
        <PickFilter filters={filters} name="outcome" label="Outcome" options={outcomes.map((outcome) => [outcome, outcomeWord[outcome]])} />
        <PickFilter filters={filters} name="risk" label="Risk" options={risks.map((risk) => [risk, risk])} />
        {write('agent', 'Agent')}
        {write('tool', 'Tool')}
        {write('session', 'Session')}
        {write('user', 'User')}
      </div>
      <p role="status" className="mb-2 mt-0 flex min-h-6 items-center gap-2 text-[0.875rem] text-faint">
        {is_busy ? (
          <>
            <Spinner /> Reading…
          </>
        ) : (
          <>
            <span>
              {plural(shown.length, 'event')}
              {error !== undefined ? '' : from > 0 ? ', the newest ones' : ', all there are'}
              {from > 0 && is_full && `: what came before number ${from + 1} is left out, because at most ${grouped(events_max)} are read`} · outcomes as they stand now
            </span>
            <button type="button" className="btn-link shrink-0" onClick={renew}>
              Read again
            </button>
          </>
        )}
      </p>
      <Problem error={error} />
      {!is_busy && shown.length === 0 && error === undefined && <p className="py-10 text-center text-soft">Nothing that happened fits{from > 0 ? ' so far; older events may' : ''}.</p>}
      <ul className="m-0 list-none border-t border-line p-0">
        {shown.slice(0, Math.min(rows, drawn)).map((event) => (
          <Row key={event.seq} event={event} />
        ))}
      </ul>
      {/* Not before all rows stand: a button would move from under the thumb. */}
      <div className="mt-5 flex flex-wrap justify-center gap-2">
        {has_all && shown.length > rows && (
          <button type="button" className="btn" onClick={() => setRows(rows + rows_step)}>
            Show more
          </button>
        )}
        {has_all && from > 0 && shown.length <= rows && !is_full && (
          <>
            <button type="button" className="btn" disabled={is_busy} onClick={() => void readOlder(false)}>
              Older
            </button>
            <button type="button" className="btn btn-quiet" disabled={is_busy} onClick={() => void readOlder(true)}>
              Read everything
            </button>
          </>
        )}
      </div>
    </Page>
  )
}
