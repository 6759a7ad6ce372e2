// What people let pass for a while: what it covers, what is left of it, what passed because of it, and the button to end it.
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { client } from '../client'
import { sentence } from '../errors'
import { visibleText } from '../model/marked_text'
import { formatAgo, formatLeft, formatMoment } from '../model/time'
import { plural } from '../model/words'
import { useNow } from '../state/clock'
import { useAddressQuery } from '../state/address'
import { useLoad } from '../state/load'
import { tell } from '../state/notices'
import { useMe } from '../state/session'
import { RiskBars } from '../ui/icons'
import { JsonView } from '../ui/json_view'
import { Dialog, Page, PageHead, Problem, riskColor, Spinner, Tabs } from '../ui/parts'
import { SafeText } from '../ui/safe_text'
import { Title } from '../ui/title'
import type { Grant } from '../wire'

const stateWord: Record<Grant['state'], string> = { active: 'active', expired: 'its time is over', used_up: 'used up', outdated: 'ended with its policy', ended: 'ended' }

/** What it covers in the server's words; what is left of it stands beside them and counts down there. */
const coveredWords = (grant: Grant): string => grant.covers.replace(/(?:, -?[\d.]+ more times)?(?:, -?[\d.e+]+ in total)?,? until [\dTZ:.-]+$/, '').replace(/^`[^`]*` by agent `[^`]*`(?:, )?/, '').replaceAll('`', '')

function Left({ grant }: { grant: Grant }) {
  const left = useNow((now) => formatLeft(Date.parse(grant.expires_at) - now))
  if (grant.state !== 'active') return <span className="text-faint">{visibleText(grant.ended_by ?? stateWord[grant.state])}</span>
  const parts = [`${left} left`]
  if (grant.uses_left !== null) parts.push(plural(grant.uses_left, 'use') + ' left')
  if (grant.sum_left !== null) parts.push(`${Number(grant.sum_left.toFixed(2))} left in total`)
  return <span className="tabular text-soft">{parts.join(' · ')}</span>
}

const Given = ({ grant }: { grant: Grant }) => `given by ${visibleText(grant.by)} ${formatAgo(grant.created_at)} · used ${plural(grant.uses, 'time')}`

function Row({ grant, is_open, onOpen, onRevoke }: { grant: Grant; is_open: boolean; onOpen: () => void; onRevoke: (() => void) | null }) {
  return (
    <li className="border-b border-line">
      <div className={`grid gap-x-6 gap-y-1 py-3.5 md:grid-cols-[1fr_auto] ${grant.state === 'active' ? '' : 'text-faint'}`}>
        <div className="min-w-0">
          <p className="m-0 flex items-center gap-2">
            <span className={riskColor[grant.risk_max]}>
              <RiskBars level={grant.risk_max} size={15} />
              <span className="sr-only">up to {grant.risk_max} risk</span>
            </span>
            <button type="button" className="foreign-line min-w-0 text-left font-semibold hover:underline" aria-expanded={is_open} onClick={onOpen}>
              {visibleText(grant.tool)} <span className="font-normal text-soft">by {visibleText(grant.agent)}</span>
            </button>
          </p>
          <p className="foreign m-0 mt-0.5 text-[0.9375rem] text-soft">
            <SafeText text={coveredWords(grant)} />
          </p>
          <p className="m-0 mt-0.5 text-[0.875rem] text-faint">
            <Given grant={grant} />
          </p>
        </div>
        <div className="flex items-center gap-4 md:flex-col md:items-end md:justify-center md:gap-1.5">
          <Left grant={grant} />
          {grant.state === 'active' && onRevoke && (
            <button type="button" className="btn btn-no min-h-9" onClick={onRevoke}>
              Revoke<span className="sr-only"> the grant for {visibleText(grant.tool)}</span>
            </button>
          )}
        </div>
      </div>
      {is_open && <Detail grant={grant} />}
    </li>
  )
}

/** Everything a grant pins, and what passed by one for this agent and tool while it was active. */
function Detail({ grant }: { grant: Grant }) {
  const end = grant.ended_at ?? grant.expires_at
  const passed = useLoad(`passed ${grant.id} ${grant.uses}`, () => client.list({ agent: grant.agent, tool: grant.tool, outcome: 'allowed', since: grant.created_at, until: end, limit: '100' }), { fresh_ms: 5000 })
  const by_grant = passed.data?.requests.filter((request) => request.verdict.rule === 'grant') ?? []
  const facts: [string, string][] = [
    ['Id', grant.id],
    ['State', stateWord[grant.state]],
    ['Given', formatMoment(grant.created_at)],
    [grant.ended_at ? 'Ended' : 'Ends', formatMoment(end)],
    ['Session', grant.session ?? 'any'],
    ['Policy', grant.policy.slice(0, 23)],
  ]
  return (
    <div className="mb-4 grid gap-5 rounded-lg border border-line bg-sheet p-4 md:grid-cols-2">
      <div>
        <h2 className="label mb-1.5">Exactly</h2>
        {grant.command && (
          <p className="foreign m-0 font-mono text-[0.875rem]">
            <SafeText text={grant.command.join(' ') + (grant.is_prefix ? ' …' : '')} is_exact />
          </p>
        )}
        {grant.pins.length > 0 && <JsonView value={Object.fromEntries(grant.pins.map(({ path, value }) => [path, value ?? null]))} />}
        {grant.bounds.map(({ path, at_most }) => (
          <p key={path} className="foreign m-0 font-mono text-[0.875rem]">
            {visibleText(path)} ≤ {at_most}
          </p>
        ))}
        <dl className="m-0 mt-3 grid grid-cols-[5rem_1fr] gap-x-3 gap-y-1 text-[0.875rem]">
          {facts.map(([name, text]) => (
            <div key={name} className="contents">
              <dt className="text-faint">{name}</dt>
              <dd className="foreign m-0">{visibleText(text)}</dd>
            </div>
          ))}
        </dl>
        <Link href={`/r/${grant.request}`} className="btn-link mt-2 inline-flex text-[0.875rem]">
          The request it was given with
        </Link>
      </div>
      <div>
        <h2 className="label mb-1.5">What passed by a grant for this agent and tool meanwhile</h2>
        {passed.is_loading && <Spinner />}
        <Problem error={passed.error} />
        {passed.data && by_grant.length === 0 && <p className="m-0 text-[0.875rem] text-faint">Nothing so far.</p>}
        <ul className="m-0 list-none p-0 text-[0.875rem]">
          {by_grant.slice(0, 20).map((request) => (
            <li key={request.id} className="border-t border-line first:border-0">
              <Link href={`/r/${request.id}`} className="flex items-baseline gap-3 py-1.5 hover:bg-well">
                <span className="foreign-line min-w-0 flex-1">
                  <Title request={request} />
                </span>
                <span className="tabular shrink-0 text-faint">{formatMoment(request.created_at)}</span>
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}

function Empty({ is_all }: { is_all: boolean }) {
  return (
    <div className="mx-auto max-w-lg py-14 text-center">
      <h2 className="text-lg">{is_all ? 'Nobody has granted anything yet' : 'Nothing passes by a grant now'}</h2>
      <p className="mt-2 text-soft">
        When the same question comes again and again, approve it with <b>Approve similar for a while</b> under <b>More</b>, or with the key <kbd className="key">s</kbd>. The policy says which actions can be granted, and how much at most.
      </p>
    </div>
  )
}

export default function GrantsScreen() {
  const me = useMe()
  const search = new URLSearchParams(useAddressQuery())
  const [, navigate] = useLocation()
  const wanted_request = search.get('request')
  const is_all = search.get('show') === 'all'
  const { data, error, is_loading, renew } = useLoad(`grants ${is_all ? 'all' : 'active'}`, () => client.grants({ state: is_all ? 'all' : 'active', limit: '500' }), { every_ms: 5000 })
  const [revoking, setRevoking] = useState<Grant | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const open = search.get('id') ?? data?.find((grant) => grant.request === wanted_request)?.id
  const go = (part: Record<string, string | null>) => {
    const next = new URLSearchParams(search)
    for (const [name, value] of Object.entries(part)) value === null ? next.delete(name) : next.set(name, value)
    const text = next.toString()
    navigate(text ? `/grants?${text}` : '/grants', { replace: true })
  }
  const revoke = async (grant: Grant) => {
    setProblem(null)
    try {
      await client.revokeGrant(grant.id)
      setRevoking(null)
      tell(`${grant.tool}: the grant is revoked; it asks again`, { tone: 'good' })
      renew()
    } catch (caught) {
      setProblem(sentence(caught))
    }
  }
  return (
    <Page width="max-w-5xl">
      <PageHead title="Grants" />
      <Tabs label="Which grants" tabs={[['active', 'Active'], ['all', 'All']]} value={is_all ? 'all' : 'active'} onPick={(tab) => go({ show: tab === 'all' ? 'all' : null, id: null, request: null })} />
      <Problem error={error} />
      {is_loading && <Spinner />}
      {data && data.length === 0 && <Empty is_all={is_all} />}
      <ul className="m-0 list-none p-0">
        {data?.map((grant) => (
          <Row
            key={grant.id}
            grant={grant}
            is_open={open === grant.id}
            onOpen={() => go({ id: open === grant.id ? null : grant.id, request: null })}
            onRevoke={me.role === 'auditor' ? null : () => setRevoking(grant)}
          />
        ))}
      </ul>
      {revoking && (
        <Dialog title="Revoke this grant?" onClose={() => setRevoking(null)}>
          <p className="foreign mb-4 mt-0">
            From now on <b>{visibleText(revoking.agent)}</b> has to ask again before each <b>{visibleText(revoking.tool)}</b> that no other grant lets pass. What already passed stays as it is.
          </p>
          <div className="mb-5 rounded-lg border border-line bg-well px-4 py-3">
            <p className="foreign m-0">
              <SafeText text={coveredWords(revoking)} />
            </p>
            <p className="foreign m-0 mt-1 text-[0.875rem] text-faint">
              <Given grant={revoking} /> · <Left grant={revoking} />
            </p>
          </div>
          {problem && (
            <p role="alert" className="text-no">
              {problem}
            </p>
          )}
          <button type="button" className="btn btn-stop" onClick={() => void revoke(revoking)}>
            Revoke
          </button>
        </Dialog>
      )}
    </Page>
  )
}
