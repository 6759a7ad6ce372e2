// Several requests in one table, or as cards where that does not fit: what they share once, what differs in columns. Each row has its own veto; nothing is
// decided together that has not been on the screen.
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState, type ReactNode, type RefObject } from 'react'
import { whyNotDecide } from '../model/authority'
import { changeSince, inSeenOrder, type Choice } from '../model/bulk'
import { bulk_max, columnsOf, isAlike, whyNotTogether, type Column } from '../model/group'
import { Guard, type Press } from '../model/guard'
import { visibleText } from '../model/marked_text'
import { decisionWord, isPlainCall, plural, titleOf } from '../model/words'
import { useArming } from '../request/changed'
import { decideTogether } from '../state/decide'
import { keepDraft, readDraft } from '../state/drafts'
import { useNow } from '../state/clock'
import { useInbox } from '../state/inbox'
import { useKeys } from '../state/keys'
import { catchFocus } from '../state/phone'
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

type Reading = { box: RefObject<HTMLDivElement | null>; rows: RefObject<HTMLDivElement | null>; note: () => void; renew: () => void; whereUnread: () => string | null }

/** Whether the whole of a scrolled list was on the screen, down and to the side; if not, each call shows the next part and says where. */
function useReading(): Reading {
  const box = useRef<HTMLDivElement>(null)
  const rows = useRef<HTMLDivElement>(null)
  /** How far it was on the screen without a gap, negative until somebody looked, and the parts that were, by what they say. */
  const seen = useRef({ down: -1, aside: 0, parts: new Set<string>() }).current
  const parts = () => [...box.current!.querySelectorAll<HTMLElement>('[data-part]')].map((part) => ({ says: part.dataset['part']!, place: part.getBoundingClientRect() }))
  /** From where the window shows to where the list has it. */
  const offset = () => box.current!.scrollTop - box.current!.getBoundingClientRect().top
  const note = () => {
    if (!box.current) return
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = box.current
    if (seen.down < 0) seen.down = clientHeight
    if (scrollTop <= seen.down) seen.down = Math.max(seen.down, scrollTop + clientHeight)
    seen.aside = Math.max(seen.aside, scrollLeft + clientWidth)
    for (const { says, place } of parts()) if (place.bottom + offset() <= seen.down + 4) seen.parts.add(says)
  }
  /** When parts came, went or moved: from the first that was not on the screen, nothing counts as if it had been. */
  const renew = () => {
    const unread = parts().find(({ says }) => !seen.parts.has(says))
    if (unread && seen.down >= 0) seen.down = Math.min(seen.down, Math.max(0, unread.place.top + offset()))
  }
  const whereUnread = () => {
    if (!box.current || !rows.current) return 'below'
    note()
    const { down, aside } = seen
    if (rows.current.offsetTop + rows.current.offsetHeight > down + 4) {
      const where = down < box.current.scrollTop ? 'above' : 'below'
      box.current.scrollTo({ top: down - 48 })
      return where
    }
    if (box.current.scrollWidth <= aside + 4) return null
    box.current.scrollTo({ left: aside - 48 })
    return 'to the side'
  }
  return { box, rows, note, renew, whereUnread }
}

const partOf = ({ id, digest }: Request): string => `${id} ${digest}`

/** A decision of one's own that is not yet in effect, in as little room as a table has. */
function Held({ held, row, onUndo }: { held: NonNullable<Request['held']>[number]; row: number; onUndo: () => void }) {
  const left_s = useNow((now) => Math.max(0, Math.ceil((Date.parse(held.until) - now) / 1000)))
  return (
    <span className="whitespace-nowrap">
      <span className="tabular text-soft first-letter:uppercase inline-block">
        {decisionWord[held.decision]} in {left_s} s
      </span>
      <button type="button" className="btn ml-2 min-h-10 px-3 sm:min-h-8" onClick={onUndo}>
        Undo<span className="sr-only"> row {row}</span>
      </button>
    </span>
  )
}

/** Why a request is not to run, as typed so far; null where nobody said that. It stays with the request, whatever is opened meanwhile. */
const vetoOf = (request: Request): string | null => readDraft<string | null>(request, 'veto', null)

/** Whoever comes to reject it alone finds the same words there. */
function keepVeto(request: Request, words: string | null): void {
  keepDraft(request, 'veto', words)
  if (words !== null) keepDraft(request, 'reject', words)
}

const cards_below_px = 640

/** True where a table would not fit: each request is then a card, and nothing of it lies beyond the edge. */
function useCards({ box, rows, renew }: Reading): boolean {
  const [width, setWidth] = useState(Infinity)
  const [too_narrow, setTooNarrow] = useState(cards_below_px - 1)
  useLayoutEffect(() => {
    const measure = () => {
      const { clientWidth, scrollWidth } = box.current!
      setWidth(clientWidth)
      if (scrollWidth > clientWidth + 1) setTooNarrow((old) => Math.max(old, clientWidth))
      // In a wider window rows are shorter: more of them stand where others were read.
      renew()
    }
    measure()
    // What is unfolded or unmasked makes a table wider too.
    const observer = new ResizeObserver(measure)
    for (const one of [box.current!, rows.current!]) observer.observe(one)
    return () => observer.disconnect()
  }, [])
  return width <= too_narrow
}

export default function BulkPane({ requests, title, onOpen, onDone, admits, back }: Props) {
  const me = useMe()
  const is_offline = useInbox((inbox) => inbox.connection === 'lost')
  const deciding = useInbox((inbox) => inbox.deciding)
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  /** What the first press saw; the second sends this and nothing else. */
  const [seen, setSeen] = useState<Choice[] | null>(null)
  const [news, setNews] = useState('')
  const places = useRef(new Map<string, number>())
  const guard = useRef<Guard>(null)
  guard.current ??= new Guard()
  const reading = useReading()
  const is_cards = useCards(reading)
  useEffect(() => catchFocus(reading.box.current), [])
  const page = inSeenOrder(requests, places.current).slice(0, bulk_max)
  const [first] = useState(() => new Set(page.map((request) => request.id)))
  const content = page.map(partOf).join()
  useLayoutEffect(() => {
    for (const { id } of page) if (!places.current.has(id)) places.current.set(id, places.current.size)
    guard.current!.moved(performance.now())
    // Armed anew by other content, not by another rendering of the same.
  }, [content])
  useLayoutEffect(reading.renew, [content, is_cards])
  const { differing, shared } = useMemo(() => columnsOf(page), [content])
  const is_table = differing.length > 0 && isAlike(page)
  const has_users = new Set(page.map((request) => request.user)).size > 1

  const why = (request: Request) => whyNotTogether(request) ?? whyNotDecide(request, me)
  // What one has decided already waits for its seconds: it is neither sent again nor counted.
  const stanceOf = (request: Request) => (heldByMe(request) || why(request) ? 'leave' : vetoOf(request) !== null ? 'veto' : 'take')
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
  /** What the field said last; those that are vetoed next are given that. */
  const [written, write] = useState('')
  const words = new Set(vetoed.map(vetoOf))
  const has_own = words.size > 1
  const reason = has_own ? '' : ([...words][0] ?? written)
  const setReason = (next: string) => {
    for (const request of vetoed) keepVeto(request, next)
    write(next)
    redraw()
  }
  const toggle = (request: Request) => {
    rethink()
    keepVeto(request, vetoOf(request) === null ? reason : null)
    redraw()
  }
  const lacks_reason = vetoed.some((request) => request.requirement.reason_required && !vetoOf(request)?.trim())
  const is_busy = page.some((request) => deciding.has(request.id))
  const is_ready = now.length > 0 && !is_busy && !is_offline && !lacks_reason

  const what = [taken.length ? `Approve ${taken.length}` : '', vetoed.length ? `reject ${vetoed.length}` : ''].filter(Boolean).join(', ')
  const label = what.charAt(0).toUpperCase() + what.slice(1)
  const go = async (press: Press) => {
    if (!is_ready || !admits(press) || !guard.current!.admits(press, performance.now())) return
    if (!is_confirming) {
      const unread = reading.whereUnread()
      setNews(unread ? `There is more ${unread}. Press again when you have read it.` : '')
      if (unread) return
      // A double click is one press: the second half must not confirm what the first has just asked.
      guard.current!.moved(performance.now())
      return setSeen(now)
    }
    rethink()
    const result = await decideTogether(
      seen.map(({ request, stance }) => {
        const word = vetoOf(request)?.trim()
        return { request, call: stance === 'take' ? { decision: 'approve' as const } : { decision: 'reject' as const, ...(word ? { reason: word } : {}) } }
      }),
    )
    if (result.failed.length === 0) onDone(seen.map(({ request }) => request.id))
    // The button that was pressed is gone with what it decided.
    if (document.activeElement === document.body) document.getElementById('requests')?.focus({ preventScroll: true })
  }
  const washOf = (request: Request) => (stanceOf(request) === 'veto' ? 'bg-no-wash' : '')
  const strikeOf = (request: Request) => (stanceOf(request) === 'veto' ? 'line-through decoration-no' : '')
  const newMark = (request: Request) => !first.has(request.id) && <span className="chip mb-1">new</span>
  const wholeOf = (request: Request) => (why(request) ? <LongText text={titleOf(request)} /> : <Whole request={request} />)
  /** What this person says to one of them. */
  const wordOn = (request: Request, i: number) => {
    const held = heldByMe(request)
    const reason_not = why(request)
    const is_veto = stanceOf(request) === 'veto'
    return (
      <>
        {held ? (
          <Held held={held} row={i + 1} onUndo={() => void undo(request.id, () => undefined)} />
        ) : reason_not ? (
          <span className="text-faint">{visibleText(reason_not)}</span>
        ) : (
          <button type="button" aria-pressed={is_veto} className={`btn min-h-10 px-3 sm:min-h-8 ${is_veto ? 'btn-stop' : 'btn-no'}`} onClick={() => toggle(request)}>
            {is_veto ? 'Vetoed' : 'Veto'}
            <span className="sr-only"> row {i + 1}</span>
          </button>
        )}
        <button type="button" className="btn btn-quiet ml-1 min-h-10 px-2 sm:min-h-8" aria-label={`Open row ${i + 1}`} onClick={() => onOpen(request.id)}>
          Open
        </button>
      </>
    )
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
              <div data-part={encodeURIComponent(JSON.stringify(shared))} className="rounded-lg border border-line bg-well px-4 py-3">
                <JsonView value={Object.fromEntries(shared.map(({ name, value }) => [name, value]))} />
              </div>
            </section>
          )}
          <div ref={reading.rows} className="mt-6 w-fit min-w-full text-[0.875rem]">
            {is_cards ? (
              <ul className="m-0 grid list-none gap-3 p-0">
                {page.map((request, i) => (
                  <li key={request.id} data-part={partOf(request)} className={`rounded-lg border border-line px-4 py-3 ${washOf(request)}`}>
                    {newMark(request)}
                    {is_table ? (
                      <dl className="foreign m-0 grid gap-1.5">
                        {differing.map((column) => (
                          <div key={column.name}>
                            <dt className="font-mono font-medium text-soft">
                              <SafeText text={column.name} />
                            </dt>
                            <dd className={`m-0 ${strikeOf(request)}`}>
                              <Cell request={request} column={column} />
                            </dd>
                          </div>
                        ))}
                        {has_users && (
                          <div>
                            <dt className="font-medium text-soft">For</dt>
                            <dd className="m-0">
                              <SafeText text={request.user ?? ''} />
                            </dd>
                          </div>
                        )}
                      </dl>
                    ) : (
                      <div className={`foreign ${strikeOf(request)}`}>{wholeOf(request)}</div>
                    )}
                    <div className="mt-2 flex flex-wrap items-center gap-2">
                      <span className="mr-auto">
                        <Countdown request={request} />
                      </span>
                      {wordOn(request, i)}
                    </div>
                  </li>
                ))}
              </ul>
            ) : (
              <table className="w-full border-collapse">
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
                    <th scope="col" className="py-1.5 pr-4 font-medium text-soft">
                      Time left
                    </th>
                    <th scope="col" className="py-1.5 text-right font-medium text-soft">
                      Your word
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {page.map((request, i) => (
                    <tr key={request.id} data-part={partOf(request)} className={`border-b border-line align-top ${washOf(request)}`}>
                      {is_table ? (
                        differing.map((column, at) => (
                          <td key={column.name} className={`foreign py-2 pr-4 ${strikeOf(request)}`}>
                            {at === 0 && newMark(request)}
                            <Cell request={request} column={column} />
                          </td>
                        ))
                      ) : (
                        <td className={`foreign py-2.5 pr-4 ${strikeOf(request)}`}>
                          {newMark(request)}
                          {wholeOf(request)}
                        </td>
                      )}
                      {is_table && has_users && (
                        <td className="foreign py-2.5 pr-4">
                          <SafeText text={request.user ?? ''} />
                        </td>
                      )}
                      <td className="py-2.5 pr-4">
                        <Countdown request={request} />
                      </td>
                      <td className="py-1.5 text-right">{wordOn(request, i)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </div>
        </div>
      </div>
      <footer className="shrink-0 border-t border-line bg-sheet px-4 pb-[max(0.75rem,env(safe-area-inset-bottom))] pt-3 md:px-10">
        <div className="mx-auto max-w-[59rem]">
          {vetoed.length > 0 && (
            <div className="mb-3">
              <label htmlFor="bulk-reason" className="label mb-1 block">
                Why not {vetoed.length === 1 ? 'that one' : `those ${vetoed.length}`}? The agent reads this.
              </label>
              <input id="bulk-reason" className="field" maxLength={2000} aria-describedby={has_own ? 'bulk-own' : undefined} value={reason} onChange={(event) => setReason(event.target.value)} />
              {has_own && (
                <p id="bulk-own" className="m-0 mt-1 text-[0.8125rem] text-soft">
                  Each keeps the reason that was written for it. What you write here replaces them.
                </p>
              )}
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
