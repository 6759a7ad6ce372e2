// Everything that was ever asked, newest first, with filters in the address.
import { memo, useState } from 'react'
import { Link } from 'wouter'
import { client, type ListQuery } from '../client'
import { sentence } from '../errors'
import { visibleText } from '../model/marked_text'
import { formatMoment, formatSpan } from '../model/time'
import { kinds, kindWord, outcomes, outcomeWord, risks } from '../model/words'
import { PickFilter, TextFilter, useFilters } from '../ui/filters'
import { useGradually } from '../ui/gradually'
import { RiskBars } from '../ui/icons'
import { useLoad } from '../state/load'
import { tell } from '../state/notices'
import { useIsPhone } from '../state/phone'
import { OutcomeTag, PageHead, riskColor, Spinner } from '../ui/parts'
import { Title } from '../ui/title'
import type { Request, RequestList } from '../wire'
import { sinceDay, untilDay } from './days'

const names = ['outcome', 'risk', 'kind', 'agent', 'tool', 'user', 'session'] as const

function readQuery(search: string): ListQuery {
  const given = new URLSearchParams(search)
  const query: ListQuery = {}
  for (const name of names) {
    const value = given.get(name)
    if (value) query[name] = value
  }
  // The address names days; which moments they are depends on where the person is who reads it.
  const since = sinceDay(given.get('since') ?? '')
  const until = untilDay(given.get('until') ?? '')
  if (since) query.since = since
  if (until) query.until = until
  return query
}

const Row = memo(function Row({ request }: { request: Request }) {
  const span = request.settled_at ? formatSpan(Date.parse(request.settled_at) - Date.parse(request.created_at)) : ''
  return (
    <li className="border-b border-line">
      <Link href={`/r/${request.id}`} className="grid grid-cols-[1.25rem_1fr] items-baseline gap-x-3 px-2 py-2.5 hover:bg-well lg:grid-cols-[1.25rem_1fr_9rem_11rem_5rem_10.5rem]">
        <span className={`self-center ${riskColor[request.risk.level]}`}>
          <RiskBars level={request.risk.level} size={15} />
          <span className="sr-only">{request.risk.level} risk</span>
        </span>
        <span className="foreign-line min-w-0">
          <Title request={request} />
        </span>
        {/* Where there is little room, one line for what is asked and one for the rest. */}
        <span className="col-start-2 flex flex-wrap items-baseline gap-x-2.5 lg:contents">
          <span className="foreign-line text-[0.875rem] text-faint lg:text-soft">{visibleText(request.agent)}</span>
          <span className="order-last ml-auto text-[0.875rem] lg:order-none lg:ml-0">{request.outcome ? <OutcomeTag outcome={request.outcome} /> : <span className="text-medium">Waiting</span>}</span>
          <span className="tabular hidden text-right text-[0.875rem] text-faint lg:block" title="from question to answer">{span}</span>
          <span className="tabular text-[0.8125rem] text-faint lg:text-right lg:text-[0.875rem]">{formatMoment(request.created_at)}</span>
        </span>
      </Link>
    </li>
  )
})

export default function HistoryScreen() {
  const filters = useFilters('/history')
  const { search } = filters
  const query = readQuery(search)
  const is_phone = useIsPhone()
  const [shows_filters, showFilters] = useState(search !== '')
  const { data: newest, error, is_loading } = useLoad(`history ${search}`, () => client.list({ ...query, limit: '50' }))
  // Older pages belong to the newest one they were read after; with another filter they are none of it.
  const [older, setOlder] = useState<{ after: RequestList; requests: Request[]; next_cursor: string | null } | null>(null)
  const rest = older && older.after === newest ? older : null
  const next_cursor = rest ? rest.next_cursor : (newest?.next_cursor ?? null)
  const [is_reading, setReading] = useState(false)
  const readOlder = async () => {
    if (!newest || !next_cursor) return
    setReading(true)
    try {
      const page = await client.list({ ...query, limit: '50', cursor: next_cursor })
      setOlder({ after: newest, requests: [...(rest?.requests ?? []), ...page.requests], next_cursor: page.next_cursor })
    } catch (caught) {
      tell(sentence(caught), { tone: 'bad' })
    } finally {
      setReading(false)
    }
  }
  const requests = [...(newest?.requests ?? []), ...(rest?.requests ?? [])]
  const shown = useGradually(requests.length)
  const type = (name: string, label: string, kind: 'text' | 'date' = 'text') => <TextFilter filters={filters} name={name} label={label} kind={kind} />
  return (
    <main id="main" tabIndex={0} className="relative min-h-0 flex-1 overflow-y-auto focus-visible:-outline-offset-2">
      <div className="mx-auto max-w-6xl px-5 py-8 md:px-8">
        <PageHead title="History" />
        <button type="button" className="btn mb-4 md:hidden" aria-expanded={shows_filters} onClick={() => showFilters(!shows_filters)}>
          Filters
        </button>
        {(shows_filters || !is_phone) && (
          <div role="search" className="mb-5 grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-[repeat(7,1fr)_9.5rem_9.5rem]">
            <PickFilter filters={filters} name="outcome" label="Outcome" options={outcomes.map((outcome) => [outcome, outcomeWord[outcome]])} />
            <PickFilter filters={filters} name="risk" label="Risk" options={risks.map((risk) => [risk, risk])} />
            <PickFilter filters={filters} name="kind" label="Kind" options={kinds.map((kind) => [kind, kindWord[kind]])} />
            {type('agent', 'Agent')}
            {type('tool', 'Tool')}
            {type('user', 'User')}
            {type('session', 'Session')}
            {type('since', 'From', 'date')}
            {type('until', 'To', 'date')}
          </div>
        )}
        {error !== undefined && <p role="alert" className="text-no">{sentence(error)}</p>}
        {is_loading && <Spinner />}
        {newest && requests.length === 0 && <p className="py-10 text-center text-soft">Nothing was asked that fits.</p>}
        <ul className="m-0 list-none border-t border-line p-0">
          {requests.slice(0, shown).map((request) => (
            <Row key={request.id} request={request} />
          ))}
        </ul>
        {next_cursor && shown >= requests.length && (
          <div className="mt-5 text-center">
            <button type="button" className="btn" disabled={is_reading} onClick={() => void readOlder()}>
              {is_reading ? <Spinner /> : 'Older'}
            </button>
          </div>
        )}
      </div>
    </main>
  )
}
