// One session as a conversation, live: what the user wanted, what the agent does, and the decision in place.
import { Suspense, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode, type RefObject } from 'react'
import { useLocation } from 'wouter'
import { client } from '../client'
import { checkAnswer, draftFor } from '../model/answer'
import { whyNotDecide } from '../model/authority'
import { conversationOf, sessionsOf, type Entry, type SessionSummary } from '../model/conversation'
import { beginning, isShownWhole } from '../model/fold'
import { Guard, type Press } from '../model/guard'
import { hidesMuch, visibleText } from '../model/marked_text'
import { confirmationLabels, isPlainCall, kindWord, plural, titleOf } from '../model/words'
import { AnswerForm, isHalf } from '../request/answer_form'
import { useChanged } from '../request/changed'
import { PlanView } from '../request/plan_view'
import { AnswerView } from '../request/subject'
import { HeldLine, Standing } from '../request/summary'
import { useAddressQuery } from '../state/address'
import { decide, isChange } from '../state/decide'
import { useDraft } from '../state/drafts'
import { hear, useInbox } from '../state/inbox'
import { KeyScope } from '../state/keys'
import { useLoad } from '../state/load'
import { useMe } from '../state/session'
import { snooze } from '../state/snooze'
import { heldByMe, undo } from '../state/undo'
import { RequestPane } from '../ui/deciding'
import { CloseIcon, RiskBars } from '../ui/icons'
import { JsonView } from '../ui/json_view'
import { Ago, Avatar, Countdown, OutcomeTag, Problem, RiskLine, riskColor, Spinner } from '../ui/parts'
import { LongText, SafeText } from '../ui/safe_text'
import type { Json, Request } from '../wire'

const session_max = 500

/** Every request of a session, as the server says now and from now on. */
function useSessionRequests(session: string | null): { requests: ReadonlyMap<string, Request>; error: unknown; is_loading: boolean } {
  const [heard, setHeard] = useState<ReadonlyMap<string, Request>>(new Map())
  const { data, error, is_loading } = useLoad(session === null ? null : `chat ${session}`, async () => {
    const found: Request[] = []
    let cursor: string | null = null
    do {
      const page: { requests: Request[]; next_cursor: string | null } = await client.list({ session: session!, limit: '100', ...(cursor ? { cursor } : {}) })
      found.push(...page.requests)
      cursor = page.next_cursor
    } while (cursor && found.length < session_max)
    return found
  })
  useEffect(() => {
    setHeard(new Map())
    return hear((request) => request.session === session && setHeard((old) => new Map(old).set(request.id, request)))
  }, [session])
  // Nothing is shown before all of it is: the rest would push away what somebody reads already. What was heard is newer.
  const requests = useMemo(() => new Map(data ? [...data.map((request) => [request.id, request] as const), ...heard] : []), [data, heard])
  return { requests, error, is_loading }
}

function Bubble({ by, at, is_mine, children }: { by: string; at: string; is_mine: boolean; children: ReactNode }) {
  return (
    <li className={`flex gap-2.5 ${is_mine ? 'flex-row-reverse' : ''}`}>
      <span aria-hidden="true" className="mt-1">
        <Avatar name={by} />
      </span>
      <div className={`min-w-0 max-w-[85%] ${is_mine ? 'text-right' : ''}`}>
        <p className="m-0 mb-0.5 text-[0.8125rem] text-faint">
          {visibleText(by)} · <Ago at={at} />
        </p>
        <div className={`inline-block max-w-full rounded-xl px-4 py-2.5 text-left ${is_mine ? 'bg-pick' : 'border border-line bg-sheet'}`}>{children}</div>
      </div>
    </li>
  )
}

/**
 * Other cards come, grow and go, and push what somebody aims at from under the pointer. Refuses what a pointer presses in the moment
 * after any card that waits has moved; a key belongs to its button, wherever that stands.
 */
function useStanding(list: RefObject<HTMLElement | null>): (press: Press) => boolean {
  const [guard] = useState(() => new Guard())
  const stood = useRef('')
  const look = useCallback(
    (by_hand = false) => {
      const cards = [...(list.current?.querySelectorAll<HTMLElement>('[data-waits]') ?? [])]
      const stand = cards.map((card) => [card.dataset['waits'], card.getBoundingClientRect().bottom].join(' ')).join()
      // Whoever scrolls sees where it stops.
      if (stand !== stood.current && !by_hand) guard.moved(performance.now())
      stood.current = stand
    },
    [guard, list],
  )
  // Before the browser paints: what came, and how far the conversation followed it.
  useLayoutEffect(() => look())
  const is_there = list.current !== null
  useEffect(() => {
    if (!list.current) return
    const onResize = new ResizeObserver(() => look())
    const onScroll = () => look(true)
    onResize.observe(list.current)
    addEventListener('scroll', onScroll, true)
    return () => {
      onResize.disconnect()
      removeEventListener('scroll', onScroll, true)
    }
  }, [look, list, is_there])
  return useCallback((press) => !press.detail || guard.admits(press, performance.now()), [guard])
}

type Admits = (press: Press) => boolean

/** `notice` stands in place of the button while nothing can be sent; what was written stays. */
function Question({ request, admits, notice }: { request: Request; admits: Admits; notice: ReactNode }) {
  const [draft, setDraft] = useDraft(request, 'answer', draftFor(request.input!))
  const [problem, setProblem] = useState<string | null>(null)
  const form = useRef<HTMLDivElement>(null)
  const send = (press: Press) => {
    if (notice) return
    // Where nothing is needed, a press that was meant for what stood here before would be an answer.
    if (!admits(press)) return
    const checked = checkAnswer(request.input!, draft, isHalf(form.current))
    if ('error' in checked) {
      setProblem(checked.error)
      return form.current?.querySelector<HTMLElement>('[data-answer]')?.focus()
    }
    void decide(request, { decision: 'answer', answer: checked.value })
  }
  return (
    <div ref={form} className="mt-3">
      <AnswerForm
        input={request.input!}
        draft={draft}
        error={problem}
        onChange={(next) => {
          setDraft(next)
          setProblem(null)
        }}
        onSubmit={() => send({})}
      />
      {notice ?? (
        <button type="button" className="btn btn-yes min-h-11 md:min-h-9" onClick={send}>
          Answer
        </button>
      )}
    </div>
  )
}

/** What waits here, and the decision on it. What is risky is opened and read first. */
function Decide({ request, admits, onReview }: { request: Request; admits: Admits; onReview: () => void }) {
  const me = useMe()
  const deciding = useInbox((inbox) => inbox.deciding.get(request.id))
  const is_offline = useInbox((inbox) => inbox.connection === 'lost')
  const why_not = whyNotDecide(request, me)
  const held = heldByMe(request)
  const notice = deciding ? (
    <p role="status" className="m-0 mt-3 flex items-center gap-2 text-soft">
      <Spinner /> on its way…
    </p>
  ) : is_offline && !held ? (
    <p className="m-0 mt-3 text-[0.875rem] text-soft">No connection: deciding waits until it is back.</p>
  ) : null
  const whole = (request.action?.arguments ?? request.plan ?? request.response ?? request.confirmation ?? request.input?.question ?? null) as Json
  const is_plain = isShownWhole(whole) && !hidesMuch([request.action?.tool ?? '', whole]) && (request.risk.level === 'low' || request.risk.level === 'medium')
  if (request.kind === 'input' && is_plain && !held && !why_not) return <Question request={request} admits={admits} notice={notice} />
  if (notice) return notice
  if (held)
    return (
      <div className="mt-3">
        <HeldLine held={held} onUndo={() => void undo(request.id, () => undefined)} label="Undo" />
      </div>
    )
  if (why_not) return <p className="m-0 mt-3 text-[0.875rem] text-soft">You cannot decide this: {visibleText(why_not)}.</p>
  const labels = request.confirmation ? confirmationLabels(request.confirmation) : { yes: 'Approve', no: 'Reject' }
  const is_quick = is_plain && request.kind !== 'input' && request.requirement.confirm === null && !request.requirement.reason_required
  const send = (decision: 'approve' | 'reject') => (press: Press) => admits(press) && void decide(request, { decision })
  return (
    <div className="mt-3 flex flex-wrap gap-2">
      {is_quick && (
        <>
          <button type="button" className="btn btn-yes min-h-11 py-1 md:min-h-9" onClick={send('approve')}>
            <span className="foreign">{labels.yes}</span>
          </button>
          <button type="button" className="btn btn-no min-h-11 py-1 md:min-h-9" onClick={send('reject')}>
            <span className="foreign">{labels.no}</span>
          </button>
        </>
      )}
      <button type="button" className={`btn min-h-11 md:min-h-9 ${is_quick ? 'btn-quiet' : 'btn-yes'}`} onClick={onReview}>
        {is_quick ? 'More…' : `Review and ${request.kind === 'input' ? 'answer' : 'decide'}`}
      </button>
    </div>
  )
}

function Ask({ request, stands, onReview }: { request: Request; stands: Admits; onReview: () => void }) {
  const is_waiting = request.state === 'pending'
  const [guard] = useState(() => new Guard())
  const is_changed = useChanged(request, guard)
  const admits = (press: Press) => stands(press) && guard.admits(press, performance.now())
  const is_call = is_waiting && isPlainCall(request)
  const text = is_call ? request.action!.tool : request.kind === 'response' ? request.response!.text : titleOf(request)
  return (
    <li data-waits={is_waiting ? request.id : undefined} className={`ml-7.5 rounded-xl border px-4 py-3 ${is_waiting ? 'border-accent bg-sheet shadow-md' : 'border-line'}`} aria-label={is_waiting ? 'Waits for a decision' : undefined}>
      <div className="mb-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-[0.8125rem]">
        {is_waiting ? <RiskLine request={request} is_brief /> : <span className={riskColor[request.risk.level]}><RiskBars level={request.risk.level} size={13} /></span>}
        <span className="text-faint">{request.kind === 'action' ? 'wants to run' : kindWord[request.kind]}</span>
        <span className="ml-auto">{is_waiting ? <Countdown request={request} /> : request.outcome && <OutcomeTag outcome={request.outcome} />}</span>
      </div>
      <p className={`foreign m-0 ${is_waiting ? 'font-medium' : ''} ${isPlainCall(request) ? 'font-mono text-[0.9375rem]' : ''}`}>
        <LongText text={text} />
      </p>
      {request.action && is_waiting && (
        <div className="mt-2 overflow-x-auto rounded-lg bg-well px-3 py-2">
          {!is_call && (
            <p className="foreign m-0 font-mono text-[0.875rem] font-semibold">
              <SafeText text={request.action.tool} />
            </p>
          )}
          {Object.keys(request.action.arguments).length ? <JsonView value={request.action.arguments} /> : <p className="m-0 text-[0.875rem] text-faint">no arguments</p>}
        </div>
      )}
      {request.plan && <PlanView plan={request.plan} skipped={new Set()} onSkip={null} />}
      {request.confirmation?.details && (
        <p className="foreign m-0 mt-1 text-soft">
          <LongText text={request.confirmation.details} />
        </p>
      )}
      {is_waiting && <Standing request={request} is_news={is_changed} />}
      {is_waiting ? (
        <Decide key={request.digest} request={request} admits={admits} onReview={onReview} />
      ) : (
        <button type="button" className="btn-link mt-1 text-[0.8125rem]" onClick={onReview}>
          Details
        </button>
      )}
    </li>
  )
}

function EntryView({ entry, stands, onReview }: { entry: Entry; stands: Admits; onReview: (request: Request) => void }) {
  switch (entry.type) {
    case 'user':
    case 'agent':
      return (
        <Bubble by={entry.by} at={entry.at} is_mine={entry.type === 'user'}>
          <p className="foreign m-0">
            <LongText text={entry.text} />
          </p>
        </Bubble>
      )
    case 'ask':
      return <Ask request={entry.request} stands={stands} onReview={() => onReview(entry.request)} />
    case 'person':
      return (
        <Bubble by={entry.by} at={entry.at} is_mine>
          <p className="m-0 font-medium">{entry.what}</p>
          {entry.text && (
            <p className="foreign m-0">
              <SafeText text={entry.text} />
            </p>
          )}
          {entry.answer !== undefined && <AnswerView answer={entry.answer} />}
        </Bubble>
      )
    case 'event':
      return <li className={`ml-7.5 text-[0.875rem] ${entry.tone === 'bad' ? 'text-no' : 'text-faint'}`}>{visibleText(entry.text)}</li>
    case 'result':
      return (
        <li className="ml-7.5 rounded-xl bg-well px-4 py-2.5 text-[0.875rem]">
          <p className="foreign m-0 mb-1">
            <span className="font-mono">{visibleText(entry.tool)}</span> <span className={entry.report.success ? 'text-yes' : 'text-no'}>{entry.report.success ? 'done' : 'failed'}</span>
          </p>
          {entry.report.error && (
            <p className="foreign m-0 text-no">
              <LongText text={entry.report.error} />
            </p>
          )}
          {entry.report.result != null && <JsonView value={entry.report.result} />}
        </li>
      )
  }
}

/** The whole decision screen, over the conversation. */
function Review({ id, requests, onClose }: { id: string; requests: ReadonlyMap<string, Request>; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [guard] = useState(() => new Guard())
  useEffect(() => dialog.current?.showModal(), [])
  const onShown = useCallback(() => guard.moved(performance.now()), [guard])
  const request = requests.get(id)
  const is_changed = useChanged(request, guard)
  if (!request) return null
  return (
    <dialog ref={dialog} aria-label="Review" onClose={onClose} className="m-auto h-[min(90dvh,52rem)] w-[min(56rem,calc(100vw-1.5rem))] overflow-hidden rounded-xl border border-line bg-paper p-0 shadow-xl open:flex open:flex-col">
      <button type="button" className="btn btn-quiet absolute right-3 top-3 z-10 px-2" aria-label="Close" onClick={() => dialog.current?.close()}>
        <CloseIcon />
      </button>
      <KeyScope value={dialog}>
        <Suspense fallback={<div className="m-auto"><Spinner /></div>}>
          <RequestPane
            key={request.digest}
            request={request}
            is_changed={is_changed}
            onDecide={(call, askForCode) => {
              let is_asked = false
              const sent = decide(request, call, (code) => (is_asked = askForCode(code)))
              // Whoever changed it stays until the server has judged that.
              if (isChange(call)) void sent.then(() => is_asked || dialog.current?.close())
              else dialog.current?.close()
            }}
            onSnooze={(until) => {
              void snooze(request, until)
              dialog.current?.close()
            }}
            onShown={onShown}
            admits={(press) => guard.admits(press, performance.now())}
          />
        </Suspense>
      </KeyScope>
    </dialog>
  )
}

function SessionList({ sessions, current, onPick }: { sessions: SessionSummary[]; current: string | null; onPick: (session: string) => void }) {
  return (
    <ul className="m-0 list-none p-0">
      {sessions.map((one) => (
        <li key={one.session}>
          <button type="button" aria-current={one.session === current ? 'true' : undefined} className={`block w-full border-b border-line px-4 py-3 text-left focus-visible:-outline-offset-2 ${one.session === current ? 'bg-pick' : 'hover:bg-well'}`} onClick={() => onPick(one.session)}>
            <span className="flex items-baseline gap-2">
              <span className="foreign-line min-w-0 flex-1 font-medium">{visibleText(one.title || one.session)}</span>
              {one.waiting > 0 && <span className="tabular rounded-full bg-ink px-1.5 text-[0.6875rem] font-semibold leading-[1.125rem] text-sheet">{one.waiting}</span>}
            </span>
            <span className="foreign-line block text-[0.8125rem] text-faint">
              {visibleText(one.agent)} · <Ago at={one.last_at} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}

export default function ChatScreen() {
  const search = useAddressQuery()
  const [, navigate] = useLocation()
  const chosen = new URLSearchParams(search).get('session')
  const recent = useLoad('chat sessions', () => client.list({ limit: '100' }), { every_ms: 5000 })
  const sessions = useMemo(() => sessionsOf(recent.data?.requests ?? []), [recent.data])
  // The newest one only to begin with: what is read, pressed or half written must not become another conversation.
  const pinned = useRef<string | null>(null)
  const session = (pinned.current = chosen ?? pinned.current ?? sessions[0]?.session ?? null)
  const { requests, error, is_loading } = useSessionRequests(session)
  const entries = useMemo(() => conversationOf(requests.values()), [requests])
  const [reviewed, setReviewed] = useState<string | null>(null)
  const waiting = [...requests.values()].filter((request) => request.state === 'pending').length
  const scroll = useRef<HTMLDivElement>(null)
  const end = useRef<HTMLDivElement>(null)
  // Follows what comes, unless somebody reads further up.
  const is_at_end = useRef(true)
  useLayoutEffect(() => {
    if (is_at_end.current) end.current?.scrollIntoView({ block: 'end' })
  }, [entries.length, session])
  const list = useRef<HTMLOListElement>(null)
  const stands = useStanding(list)
  // What was decided takes its buttons away; the keyboard goes on in the conversation.
  const was_inside = useRef(false)
  useEffect(() => {
    if (was_inside.current && document.activeElement === document.body) scroll.current?.focus({ preventScroll: true })
  }, [requests, reviewed])
  const pick = (next: string) => {
    is_at_end.current = true
    navigate(`/chat?session=${encodeURIComponent(next)}`, { replace: true })
  }
  if (recent.data && session === null)
    return (
      <main id="main" tabIndex={-1} className="m-auto max-w-lg px-6 py-10 text-center">
        <h1 className="text-lg">No conversation yet</h1>
        <p className="mt-2 text-soft">
          When an agent names its <code className="font-mono">session</code>, everything it asks there is told here in one piece: what the user wanted, what the agent does, what people decide, and what came of it.
        </p>
      </main>
    )
  return (
    <main id="main" tabIndex={-1} className="flex min-h-0 flex-1">
      <section aria-label="Sessions" tabIndex={0} className="hidden w-80 shrink-0 overflow-y-auto border-r border-line bg-sheet md:block">
        {recent.is_loading && <Spinner />}
        <SessionList sessions={sessions} current={session} onPick={pick} />
      </section>
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line bg-sheet px-4 py-2.5">
          <h1 className="foreign-line min-w-0 text-[1.0625rem]">{visibleText(session ?? 'Chat')}</h1>
          <span role="status" className="text-[0.875rem] text-soft">
            {waiting > 0 ? `${plural(waiting, 'decision')} needed` : ''}
          </span>
          <label htmlFor="session" className="sr-only">
            Session
          </label>
          <select id="session" className="field md:hidden" value={session ?? ''} onChange={(event) => pick(event.target.value)}>
            {session !== null && !sessions.some((one) => one.session === session) && <option value={session}>{visibleText(beginning(session, 60))}</option>}
            {sessions.map((one) => (
              <option key={one.session} value={one.session}>
                {visibleText(beginning(one.title || one.session, 60))}
              </option>
            ))}
          </select>
        </header>
        <div
          ref={scroll}
          tabIndex={0}
          role="region"
          aria-label="Conversation"
          onFocus={() => (was_inside.current = true)}
          onBlur={({ relatedTarget, currentTarget }) => (was_inside.current = relatedTarget === null || currentTarget.contains(relatedTarget))}
          className="relative min-h-0 flex-1 overflow-y-auto focus-visible:-outline-offset-2"
          onScroll={({ currentTarget: box }) => (is_at_end.current = box.scrollHeight - box.scrollTop - box.clientHeight < 80)}
        >
          <div className="mx-auto max-w-3xl px-4 py-6">
            <Problem error={error ?? (recent.data ? undefined : recent.error)} />
            {is_loading && <Spinner />}
            <ol ref={list} aria-live="polite" className="m-0 grid list-none gap-4 p-0">
              {entries.map((entry) => (
                <EntryView key={entry.key} entry={entry} stands={stands} onReview={(request) => setReviewed(request.id)} />
              ))}
            </ol>
            <div ref={end} className="h-4" />
          </div>
        </div>
      </div>
      {reviewed && <Review id={reviewed} requests={requests} onClose={() => setReviewed(null)} />}
    </main>
  )
}
