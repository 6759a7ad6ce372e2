// What the same session and the same agent asked before, and how it ended.
import { Link } from 'wouter'
import { client, type ListQuery } from '../client'
import { sentence } from '../errors'
import { visibleText } from '../model/marked_text'
import { useLoad } from '../state/load'
import { RiskBars } from '../ui/icons'
import { Ago, OutcomeTag, riskColor, Spinner } from '../ui/parts'
import { Title } from '../ui/title'
import type { Request } from '../wire'

function List({ title, query, self, href }: { title: string; query: ListQuery; self: string; href: string }) {
  const { data, error, is_loading } = useLoad(`earlier ${JSON.stringify(query)}`, () => client.list({ ...query, limit: '9' }), { fresh_ms: 10_000 })
  const others = data?.requests.filter((request) => request.id !== self).slice(0, 8) ?? []
  return (
    <div className="mb-5 last:mb-0">
      <div className="mb-1 flex items-baseline justify-between gap-3">
        <h3 className="label foreign-line">{title}</h3>
        <Link href={href} className="btn-link shrink-0 text-[0.8125rem]">
          All of it
        </Link>
      </div>
      {is_loading && <Spinner />}
      {error !== undefined && <p className="m-0 text-no">{sentence(error)}</p>}
      {data && others.length === 0 && <p className="m-0 text-[0.875rem] text-faint">Nothing else yet.</p>}
      <ul className="m-0 list-none p-0 text-[0.875rem]">
        {others.map((request) => (
          <li key={request.id} className="border-t border-line">
            <Link href={`/r/${request.id}`} className="grid grid-cols-[1rem_1fr_auto] items-baseline gap-x-3 py-1.5 hover:bg-well sm:grid-cols-[1rem_1fr_10rem_6rem]">
              <span className={`self-center ${riskColor[request.risk.level]}`}>
                <RiskBars level={request.risk.level} size={13} />
              </span>
              <span className="foreign-line min-w-0">
                <Title request={request} />
              </span>
              <span>{request.outcome ? <OutcomeTag outcome={request.outcome} /> : <span className="text-medium">Waiting</span>}</span>
              <span className="hidden text-right text-faint sm:block">
                <Ago at={request.created_at} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

export default function Earlier({ request }: { request: Request }) {
  return (
    <>
      {request.session && <List title={`Session ${visibleText(request.session)}`} query={{ session: request.session }} self={request.id} href={`/history?session=${encodeURIComponent(request.session)}`} />}
      <List title={`Agent ${visibleText(request.agent)}`} query={{ agent: request.agent }} self={request.id} href={`/history?agent=${encodeURIComponent(request.agent)}`} />
    </>
  )
}
