// Several requests in one table: what they share once, what differs in columns. Each row has its own veto; nothing is
// decided together that has not been on the screen.
import { useLayoutEffect, useMemo, useRef, useState, type ReactNode, type RefObject } from 'react'
import { whyNotDecide } from '../model/authority'
import { changeSince, inSeenOrder, type Choice } from '../model/bulk'
import { bulk_max, columnsOf, isAlike, whyNotTogether, type Column } from '../model/group'
import { Guard, type Press } from '../model/guard'
import { visibleText } from '../model/marked_text'
import { isPlainCall, plural, titleOf } from '../model/words'
import { useArming } from '../request/changed'
import { HeldLine } from '../request/summary'
import { decideTogether } from '../state/decide'
import { useInbox } from '../state/inbox'
import { useKeys } from '../state/keys'
import { useMe } from '../state/session'
import { heldByMe, undo } from '../state/undo'
import { RiskBars } from '../ui/icons'
import { JsonView } from '../ui/json_view'
import { Countdown, Key, riskColor } from '../ui/parts'
import { LongText, SafeText } from '../ui/safe_text'
import type { Request } from '../wire'

type Props = { requests: Request[]; title: string; onOpen: (id: string) => void; onDone: (sent: string[]) => void; admits: (press: Press) => boolean; back?: ReactNode }

/** One value of a request, whole. */
function Cell({ request, column }: { request: Request; column: Column }) {
  const [name] = column.path
  const values = request.action?.arguments
  if (!values || typeof name !== 'string' || !Object.hasOwn(values, name)) return <span className="text-faint">not given</span>
  return <JsonView name={name} value={values[name]!} />
}

/** Everything that a request asks, where requests have too little in common for columns. */
function Whole({ request }: { request: Request }) {
  const { action, confirmation } = request
  const name = action && isPlainCall(request) ? action.tool : titleOf(request)
  return (
    <>
      <p className="m-0">
        <span className={`mr-2 inline-block align-[-2px] ${riskColor[request.risk.level]}`}>
          <RiskBars level={request.risk.level} size={14} />
        </span>
        <span className="font-medium">
          <LongText text={name} />
        </span>{' '}
        <span className="text-faint">
          from {visibleText(request.agent)}
          {request.user ? ` for ${visibleText(request.user)}` : ''}
        </span>
      </p>
      {action && (
        <div className="mt-1 rounded-md bg-well px-3 py-1.5">
          {!isPlainCall(request) && (
            <p className="m-0 font-mono font-semibold">
              <SafeText text={action.tool} />
            </p>
          )}
          {Object.keys(action.arguments).length ? <JsonView value={action.arguments} /> : <p className="m-0 text-faint">no arguments</p>}
        </div>
      )}
      {confirmation?.details && (
        <p className="m-0 mt-1 text-soft">
          <LongText text={confirmation.details} />
        </p>
      )}
    </>
  )
}

/** Whether the whole of a scrolled table was on the screen; if not, each call shows the next part of it. */
function useReading(): { box: RefObject<HTMLDivElement | null>; table: RefObject<HTMLTableElement | null>; note: () => void; hasRead: () => boolean } {
  const box = useRef<HTMLDivElement>(null)
  const table = useRef<HTMLTableElement>(null)
  const seen_to = useRef(0)
  const note = () => {
    if (box.current) seen_to.current = Math.max(seen_to.current, box.current.scrollTop + box.current.clientHeight)
  }
  const hasRead = () => {
    if (!box.current || !table.current) return false
    note()
    if (table.current.offsetTop + table.current.offsetHeight <= seen_to.current + 4) return true
    box.current.scrollTo({ top: seen_to.current - 48 })
    return false
  }
  return { box, table, note, hasRead }
}

export default function BulkPane({ requests, title, onOpen, onDone, admits, back }: Props) {
  const me = useMe()
  const is_offline = useInbox((inbox) => inbox.connection === 'lost')
  const deciding = useInbox((inbox) => inbox.deciding)
  const [vetoes, setVetoes] = useState<ReadonlySet<string>>(new Set())
  /** What the first press saw; the second sends this and nothing else. */
  const [seen, setSeen] = useState<Choice[] | null>(null)
  const [news, setNews] = useState('')
  const places = useRef(new Map<string, number>())
  const guard = useRef<Guard>(null)
  guard.current ??= new Guard()
  const reading = useReading()
  const page = inSeenOrder(requests, places.current).slice(0, bulk_max)
  const [first] = useState(() => new Set(page.map((request) => request.id)))
  const content = page.map((request) => `${request.id} ${request.digest}`).join()
  useLayoutEffect(() => {
    for (const { id } of page) if (!places.current.has(id)) places.current.set(id, places.current.size)
    guard.current!.moved(performance.now())
    // Armed anew by other content, not by another rendering of the same.
  }, [content])
  const { differing, shared } = useMemo(() => columnsOf(page), [content])
  const is_table = differing.length > 0 && isAlike(page)
  const has_users = new Set(page.map((request) => request.user)).size > 1

  const why = (request: Request) => whyNotTogether(request) ?? whyNotDecide(request, me)
  // What one has decided already waits for its seconds: it is neither sent again nor counted.
  const stanceOf = (request: Request) => (heldByMe(request) || why(request) ? 'leave' : vetoes.has(request.id) ? 'veto' : 'take')
  const taken = page.filter((request) => stanceOf(request) === 'take')
  const vetoed = page.filter((request) => stanceOf(request) === 'veto')
  const now: Choice[] = [...taken.map((request): Choice => ({ request, stance: 'take' })), ...vetoed.map((request): Choice => ({ request, stance: 'veto' }))]
  const change = seen && changeSince(seen, now)
  const is_confirming = seen !== null && change === null
  useLayoutEffect(() => {
    if (!change) return
    setSeen(null)
    setNews(`${change}: look again. Nothing was decided.`)
  }, [change])
  const is_arming = useArming(is_confirming)
  const rethink = () => {
    setSeen(null)
    setNews('')
  }
  const toggle = (id: string) => {
    rethink()
    setVetoes(vetoes.has(id) ? new Set([...vetoes].filter((one) => one !== id)) : new Set([...vetoes, id]))
  }
  const needs_reason = vetoed.some((request) => request.requirement.reason_required)
  const [reason, setReason] = useState('')
  const is_busy = page.some((request) => deciding.has(request.id))
  const is_ready = now.length > 0 && !is_busy && !is_offline && (!needs_reason || reason.trim() !== '')

  const what = [taken.length ? `Approve ${taken.length}` : '', vetoed.length ? `reject ${vetoed.length}` : ''].filter(Boolean).join(', ')
  const label = what.charAt(0).toUpperCase() + what.slice(1)
  const go = async (press: Press) => {
    if (!is_ready || !admits(press) || !guard.current!.admits(press, performance.now())) return
    if (!is_confirming) {
      const has_read = reading.hasRead()
      setNews(has_read ? '' : 'There is more below. Press again when you have read it.')
      if (!has_read) return
      // A double click is one press: the second half must not confirm what the first has just asked.
      guard.current!.moved(performance.now())
      return setSeen(now)
    }
    rethink()
    const result = await decideTogether(
      seen.map(({ request, stance }) => ({ request, call: stance === 'take' ? { decision: 'approve' as const } : { decision: 'reject' as const, ...(reason.trim() ? { reason: reason.trim() } : {}) } })),
    )
    if (result.failed.length === 0) onDone(seen.map(({ request }) => request.id))
    // The button that was pressed is gone with what it decided.
    if (document.activeElement === document.body) document.getElementById('requests')?.focus({ preventScroll: true })
  }
  useKeys({ A: (event) => void go(event), ...(is_confirming ? { Escape: rethink } : {}) })

  return (
    <article className="flex min-h-0 flex-1 flex-col" aria-label={visibleText(title)}>
      <div ref={reading.box} onScroll={reading.note} tabIndex={0} role="region" aria-label="Requests to decide together" className="relative min-h-0 flex-1 overflow-auto focus-visible:-outline-offset-2">
        <div className="mx-auto max-w-[64rem] px-5 pb-10 pt-5 md:px-10 md:pt-8">
          {back}
          <h1 className="foreign text-[1.4375rem] leading-8 tracking-[-0.01em]">
            <SafeText text={title} />
          </h1>
          <p className="m-0 mt-1.5 text-soft">
            {is_table && <>From {visibleText(page[0]!.agent)}. </>}
            Veto what should not run; what you veto is rejected, the rest is approved.
            {requests.length > bulk_max && ` These are the first ${bulk_max} of ${requests.length}.`}
          </p>
          {is_table && shared.length > 0 && (
            <section className="mt-5">
              <h2 className="label mb-1.5">The same in all</h2>
              <div className="rounded-lg border border-line bg-well px-4 py-3">
                <JsonView value={Object.fromEntries(shared.map(({ name, value }) => [name, value]))} />
              </div>
            </section>
          )}
          <table ref={reading.table} className="mt-6 w-full border-collapse text-[0.875rem]">
            <thead>
              <tr className="border-b border-edge text-left align-bottom">
                {is_table ? (
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
                {is_table && has_users && (
                  <th scope="col" className="py-1.5 pr-4 font-medium text-soft">
                    For
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
                const held = heldByMe(request)
                return (
                  <tr key={request.id} className={`border-b border-line align-top ${stance === 'veto' ? 'bg-no-wash' : ''}`}>
                    {is_table ? (
                      differing.map((column, at) => (
                        <td key={column.name} className={`foreign py-2 pr-4 ${stance === 'veto' ? 'line-through decoration-no' : ''}`}>
                          {at === 0 && !first.has(request.id) && <span className="chip mb-1">new</span>}
                          <Cell request={request} column={column} />
                        </td>
                      ))
                    ) : (
                      <td className={`foreign py-2.5 pr-4 ${stance === 'veto' ? 'line-through decoration-no' : ''}`}>
                        {!first.has(request.id) && <span className="chip mb-1">new</span>}
                        {reason_not ? <LongText text={titleOf(request)} /> : <Whole request={request} />}
                      </td>
                    )}
                    {is_table && has_users && (
                      <td className="foreign py-2.5 pr-4">
                        <SafeText text={request.user ?? ''} />
                      </td>
                    )}
                    <td className="hidden py-2.5 pr-4 sm:table-cell">
                      <Countdown request={request} />
                    </td>
                    <td className="py-1.5 text-right">
                      {held ? (
                        <HeldLine held={held} onUndo={() => void undo(request.id, () => undefined)} label={<>Undo<span className="sr-only"> row {i + 1}</span></>} />
                      ) : reason_not ? (
                        <span className="text-faint">{visibleText(reason_not)}</span>
                      ) : (
                        <button type="button" aria-pressed={stance === 'veto'} className={`btn min-h-10 px-3 sm:min-h-8 ${stance === 'veto' ? 'btn-stop' : 'btn-no'}`} onClick={() => toggle(request.id)}>
                          {stance === 'veto' ? 'Vetoed' : 'Veto'}
                          <span className="sr-only"> row {i + 1}</span>
                        </button>
                      )}
                      <button type="button" className="btn btn-quiet ml-1 min-h-10 px-2 sm:min-h-8" aria-label={`Open row ${i + 1}`} onClick={() => onOpen(request.id)}>
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
            <button type="button" className="btn btn-yes min-h-11 px-5 md:min-h-10" disabled={!is_ready} aria-disabled={is_confirming && is_arming} onClick={(event) => void go(event)}>
              {is_confirming ? `Yes, ${what.charAt(0).toLowerCase()}${what.slice(1)}` : label || 'Nothing to decide'} <Key name="⇧A" />
            </button>
            {is_confirming && (
              <button type="button" className="btn btn-quiet min-h-11 md:min-h-10" onClick={rethink}>
                Back
              </button>
            )}
            <span role="status" className="text-[0.875rem] text-soft">
              {is_confirming ? `${plural(taken.length, 'request')} will run as shown. Press again.` : ''}
              {news && <span className="font-medium text-medium">{news}</span>}
              {is_offline ? 'No connection: deciding waits until it is back.' : ''}
            </span>
          </div>
        </div>
      </footer>
    </article>
  )
}
