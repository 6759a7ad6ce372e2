// Several requests in one table: what they share once, what differs in columns. Each row has its own veto; nothing is
// decided together that has not been on the screen.
import { useMemo, useState } from 'react'
import { whyNotDecide } from '../model/authority'
import { bulk_max, columnsOf, whyNotTogether } from '../model/group'
import { shortJson } from '../model/json'
import { visibleText } from '../model/marked_text'
import { plural, titleOf } from '../model/words'
import { decideTogether } from '../state/decide'
import { useInbox } from '../state/inbox'
import { useKeys } from '../state/keys'
import { useMe } from '../state/session'
import { RiskBars } from '../ui/icons'
import { JsonView } from '../ui/json_view'
import { Countdown, Key, riskColor } from '../ui/parts'
import { SafeText } from '../ui/safe_text'
import type { Json, Request } from '../wire'
import type { ReactNode } from 'react'

type Props = { requests: Request[]; title: string; onOpen: (id: string) => void; onDone: () => void; admits: (press: { repeat: boolean }) => boolean; back?: ReactNode }

type Stance = 'take' | 'veto' | 'leave'

export function BulkPane({ requests, title, onOpen, onDone, admits, back }: Props) {
  const me = useMe()
  const is_offline = useInbox((inbox) => inbox.connection === 'lost')
  const deciding = useInbox((inbox) => inbox.deciding)
  const [stances, setStances] = useState<ReadonlyMap<string, Stance>>(new Map())
  const [is_confirming, confirm] = useState(false)
  const page = requests.slice(0, bulk_max)
  const { differing, shared } = useMemo(() => columnsOf(page), [page])
  const is_one_tool = new Set(page.map((request) => request.action?.tool)).size === 1 && page[0]?.action !== undefined

  const why = (request: Request) => whyNotTogether(request) ?? whyNotDecide(request, me)
  const stanceOf = (request: Request): Stance => (why(request) ? 'leave' : (stances.get(request.id) ?? 'take'))
  const put = (id: string, stance: Stance) => {
    confirm(false)
    setStances(new Map(stances).set(id, stance))
  }
  const taken = page.filter((request) => stanceOf(request) === 'take')
  const vetoed = page.filter((request) => stanceOf(request) === 'veto')
  const needs_reason = vetoed.some((request) => request.requirement.reason_required)
  const [reason, setReason] = useState('')
  const is_busy = page.some((request) => deciding.has(request.id))
  const is_ready = taken.length + vetoed.length > 0 && !is_busy && !is_offline && (!needs_reason || reason.trim() !== '')

  const what = [taken.length ? `Approve ${taken.length}` : '', vetoed.length ? `reject ${vetoed.length}` : ''].filter(Boolean).join(', ')
  const label = what.charAt(0).toUpperCase() + what.slice(1)
  const go = async (press: { repeat: boolean }) => {
    if (!is_ready || !admits(press)) return
    if (!is_confirming) return confirm(true)
    confirm(false)
    const result = await decideTogether([
      ...taken.map((request) => ({ request, call: { decision: 'approve' as const } })),
      ...vetoed.map((request) => ({ request, call: { decision: 'reject' as const, ...(reason.trim() ? { reason: reason.trim() } : {}) } })),
    ])
    if (result.failed.length === 0) onDone()
  }
  useKeys({ A: (event) => void go(event), ...(is_confirming ? { Escape: () => confirm(false) } : {}) })

  const cell = (request: Request, path: (string | number)[]): Json | undefined => {
    const [name] = path
    const values = request.action?.arguments
    return values && name !== undefined && Object.hasOwn(values, name) ? values[name as string] : undefined
  }
  return (
    <article className="flex min-h-0 flex-1 flex-col" aria-label={title}>
      <div tabIndex={0} role="region" aria-label="Requests to decide together" className="relative min-h-0 flex-1 overflow-auto focus-visible:-outline-offset-2">
        <div className="mx-auto max-w-[64rem] px-5 pb-10 pt-5 md:px-10 md:pt-8">
          {back}
          <h1 className="foreign text-[1.4375rem] leading-8 tracking-[-0.01em]">
            <SafeText text={title} />
          </h1>
          <p className="m-0 mt-1.5 text-soft">
            Veto what should not run; what you veto is rejected, the rest is approved.
            {requests.length > bulk_max && ` These are the first ${bulk_max} of ${requests.length}.`}
          </p>
          {is_one_tool && shared.length > 0 && (
            <section className="mt-5">
              <h2 className="label mb-1.5">The same in all</h2>
              <div className="rounded-lg border border-line bg-well px-4 py-3">
                <JsonView value={Object.fromEntries(shared.map(({ name, value }) => [name, value]))} />
              </div>
            </section>
          )}
          <table className="mt-6 w-full border-collapse text-[0.875rem]">
            <thead>
              <tr className="border-b border-edge text-left align-bottom">
                {is_one_tool && differing.length ? (
                  differing.map((column) => (
                    <th key={column.name} scope="col" className="py-1.5 pr-4 font-mono font-medium text-soft">
                      <SafeText text={column.name} />
                    </th>
                  ))
                ) : (
                  <th scope="col" className="py-1.5 pr-4 font-medium text-soft">
                    Request
                  </th>
                )}
                <th scope="col" className="hidden py-1.5 pr-4 font-medium text-soft sm:table-cell">
                  Time left
                </th>
                <th scope="col" className="py-1.5 text-right font-medium text-soft">
                  Your word
                </th>
              </tr>
            </thead>
            <tbody>
              {page.map((request, i) => {
                const stance = stanceOf(request)
                const reason_not = why(request)
                return (
                  <tr key={request.id} className={`border-b border-line align-top ${stance === 'veto' ? 'bg-no-wash' : ''}`}>
                    {is_one_tool && differing.length ? (
                      differing.map((column) => (
                        <td key={column.name} className={`foreign py-2.5 pr-4 font-mono ${stance === 'veto' ? 'line-through decoration-no' : ''}`}>
                          <SafeText text={shortJson(cell(request, column.path), 200)} />
                        </td>
                      ))
                    ) : (
                      <td className={`foreign py-2.5 pr-4 ${stance === 'veto' ? 'line-through decoration-no' : ''}`}>
                        <span className={`mr-2 inline-block align-[-2px] ${riskColor[request.risk.level]}`}>
                          <RiskBars level={request.risk.level} size={14} />
                        </span>
                        <SafeText text={request.kind === 'action' ? request.headline : titleOf(request).slice(0, 300)} />
                      </td>
                    )}
                    <td className="hidden py-2.5 pr-4 sm:table-cell">
                      <Countdown request={request} />
                    </td>
                    <td className="py-1.5 text-right">
                      {reason_not ? (
                        <span className="text-faint">{visibleText(reason_not)}</span>
                      ) : (
                        <button type="button" aria-pressed={stance === 'veto'} className={`btn min-h-10 px-3 sm:min-h-8 ${stance === 'veto' ? 'btn-stop' : 'btn-no'}`} onClick={() => put(request.id, stance === 'veto' ? 'take' : 'veto')}>
                          {stance === 'veto' ? 'Vetoed' : 'Veto'}
                          <span className="sr-only"> row {i + 1}</span>
                        </button>
                      )}
                      <button type="button" className="btn btn-quiet ml-1 hidden min-h-8 px-2 sm:inline-flex" aria-label={`Open row ${i + 1}`} onClick={() => onOpen(request.id)}>
                        Open
                      </button>
                    </td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </div>
      </div>
      <footer className="shrink-0 border-t border-line bg-sheet px-4 pb-[max(0.75rem,env(safe-area-inset-bottom))] pt-3 md:px-10">
        <div className="mx-auto max-w-[59rem]">
          {vetoed.length > 0 && (
            <div className="mb-3">
              <label htmlFor="bulk-reason" className="label mb-1 block">
                Why not {vetoed.length === 1 ? 'that one' : `those ${vetoed.length}`}? The agent reads this.
              </label>
              <input id="bulk-reason" className="field" maxLength={2000} value={reason} onChange={(event) => setReason(event.target.value)} />
            </div>
          )}
          <div className="flex flex-wrap items-center gap-2">
            <button type="button" className="btn btn-yes min-h-11 px-5 md:min-h-10" disabled={!is_ready} onClick={() => void go({ repeat: false })}>
              {is_confirming ? `Yes, ${what.charAt(0).toLowerCase()}${what.slice(1)}` : label || 'Nothing to decide'} <Key name="⇧A" />
            </button>
            {is_confirming && (
              <button type="button" className="btn btn-quiet min-h-11 md:min-h-10" onClick={() => confirm(false)}>
                Back
              </button>
            )}
            <span role="status" className="text-[0.875rem] text-soft">
              {is_confirming ? `${plural(taken.length, 'request')} will run as shown. Press again.` : ''}
              {is_offline ? 'No connection: deciding waits until it is back.' : ''}
            </span>
          </div>
        </div>
      </footer>
    </article>
  )
}
