// One request: everything a person needs to decide, and the bar with which they do.
import { Suspense, useEffect, useLayoutEffect, useRef, useState, type MouseEvent, type ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { checkAnswer, draftFor } from '../model/answer'
import { decisionsFor, mayGrant, missingVotes, waitsForOthers, whoDecides, whyNotDecide } from '../model/authority'
import type { Press } from '../model/guard'
import { changes } from '../model/json'
import { returns_before_ms } from '../model/snooze'
import { serverNow } from '../model/time'
import { confirmationLabels, decidingWord, plural } from '../model/words'
import { visibleText } from '../model/marked_text'
import { client } from '../client'
import { sentence } from '../errors'
import { whoDecided, type AskForCode, type Call } from '../state/decide'
import { keepDraft, readDraft, useDraft } from '../state/drafts'
import { acceptAnswer, toldSoFar, useInbox } from '../state/inbox'
import { useKeys } from '../state/keys'
import { tell } from '../state/notices'
import { catchFocus } from '../state/phone'
import { useMe } from '../state/session'
import { confirmDecision } from '../state/passkeys'
import { isSnoozed } from '../state/snooze'
import { useLooking } from '../state/presence'
import { heldByMe, undo } from '../state/undo'
import { ChangeEditor, CodePanel, GrantPanel, RarePanel } from '../ui/deciding'
import { Menu } from '../ui/menu'
import { Key, RiskLine, Section, Spinner } from '../ui/parts'
import { SafeText } from '../ui/safe_text'
import type { DecisionCall, Input, Request } from '../wire'
import { isHalf } from './answer_form'
import { NoteField, RejectPanel, WarnPanel, wordsTooLong } from './composers'
import { AgentSays, ContextView, EarlierFold, LikenessLine, PolicyFold, TechnicalFold, TimelineFold, useLikeness } from './context_view'
import { ChangeList, TextDiff } from './diff_view'
import { changeable, modification, revised, unrevised, whatIsMissing } from './revision'
import { Subject } from './subject'
import { Headline, HeldByOthers, HeldLine, Others, Standing, TimeWarning, WhoAndWhen } from './summary'

type Mode = 'read' | 'reject' | 'defer' | 'escalate' | 'abort' | 'modify' | 'confirm' | 'grant' | 'snooze'

type Props = {
  /** Give the pane its id and digest as key: whatever was begun on other content is over. */
  request: Request
  /** It became what it is while this person looked at it. */
  is_changed: boolean
  /** Sends the decision and goes on to the next request, unless that takes a code. */
  onDecide: (call: Call, askForCode: AskForCode) => void
  /** Puts it out of one's own sight until then; null brings it back. */
  onSnooze: (until: Date | null) => void
  /** It stands on the page, whole: only now a press can mean it. */
  onShown: () => void
  /** False for a press that came too early or from a held key. */
  admits: (press: Press) => boolean
  /** Leaves a request that was settled while it was on the screen. */
  onGoOn?: (() => void) | undefined
  back?: ReactNode
}

const nothing_skipped: ReadonlySet<number> = new Set()
const nothing_to_answer: Input = { question: '', type: 'text', required: false }

async function prolong(request: Request): Promise<void> {
  const since = toldSoFar()
  try {
    acceptAnswer(since, await client.extend(request.id, 300))
    tell('Five more minutes.', { tone: 'good' })
  } catch (error) {
    tell(sentence(error), { tone: 'bad' })
  }
}

/** Where what is decided stands, and in it the buttons that uncover a part of it. */
const asked = 'h1, [data-asked]'
const covered = ':is(h1, [data-asked]) [data-covered]'

/**
 * True once the end of what will run was on the screen. What is uncovered since then has an end of its own, and so has `content` of
 * another name; null while something else stands in its place, of which no end counts.
 */
function useSeen(content: string | null): { sentinel: React.RefObject<HTMLDivElement | null>; hasSeen: () => boolean; showRest: () => void; onUncover: (event: MouseEvent) => void } {
  const sentinel = useRef<HTMLDivElement>(null)
  const observer = useRef<IntersectionObserver>(null)
  const seen = useRef(false)
  const look = () => {
    seen.current = false
    observer.current?.disconnect()
    // What was found before and not yet told is about what stood there before.
    observer.current?.takeRecords()
    if (sentinel.current && content !== null) observer.current?.observe(sentinel.current)
  }
  useLayoutEffect(() => {
    observer.current ??= new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) seen.current = true
    })
    look()
    return () => observer.current?.disconnect()
  }, [content])
  const showRest = () => {
    sentinel.current?.scrollIntoView({ block: 'end' })
    seen.current = true
  }
  const onUncover = ({ target }: MouseEvent) => {
    if (target instanceof Element && target.closest('[data-covered]')?.closest(asked)) look()
  }
  return { sentinel, hasSeen: () => seen.current, showRest, onUncover }
}

/** Stands for what is being fetched, in which the fingers write already: none of that is a key of the page. */
function Loading() {
  useKeys({ any: () => undefined })
  return <Spinner />
}

/**
 * Where the keyboard goes when a panel opens or closes: into the panel, and back to what opened it. The buttons of the bar
 * are not there meanwhile, so theirs is found by what it opens.
 */
function useFocus(mode: Mode): { pane: React.RefObject<HTMLElement | null>; noteOpener: () => void } {
  const pane = useRef<HTMLElement>(null)
  const opener = useRef<Element | null>(null)
  const was = useRef<Mode>(mode)
  useEffect(() => {
    const before = was.current
    was.current = mode
    if (before === mode || !pane.current) return
    const panel = pane.current.querySelector<HTMLElement>('[data-panel]')
    if (mode !== 'read') {
      if (!panel?.contains(document.activeElement)) panel?.focus({ preventScroll: true })
      return
    }
    const is_there = opener.current?.isConnected && opener.current !== document.body
    const back = is_there ? opener.current : (pane.current.querySelector(`[data-opens="${before}"]`) ?? pane.current.querySelector('[data-opens="menu"]'))
    if (back instanceof HTMLElement) back.focus({ preventScroll: true })
  }, [mode])
  return { pane, noteOpener: () => (opener.current = document.activeElement) }
}

export default function RequestPane({ request, is_changed, onDecide, onSnooze, onShown, admits, onGoOn, back }: Props) {
  const { likeness, is_loading } = useLikeness(request)
  const me = useMe()
  const deciding = useInbox((inbox) => inbox.deciding.get(request.id))
  const is_offline = useInbox((inbox) => inbox.connection === 'lost')
  const [begun, putMode] = useState<Mode>('read')
  // What was begun and not sent is not what came of it.
  const is_settled = request.state === 'settled'
  const mode = is_settled ? 'read' : begun
  // Also when the second look comes up: a double click is one press, not a yes and its confirmation.
  useLayoutEffect(onShown, [onShown, mode === 'confirm'])
  const { pane, noteOpener } = useFocus(mode)
  const [hint, setHint] = useState<string | null>(null)
  const setMode = (next: Mode) => {
    if (mode === 'read') noteOpener()
    // What it says is about what stood there.
    setHint(null)
    putMode(next)
  }
  const [draft, setDraft] = useDraft(request, 'answer', draftFor(request.input ?? nothing_to_answer))
  const [draft_error, setDraftError] = useState<string | null>(null)
  const [left_out, setSkipped] = useDraft(request, 'steps', nothing_skipped)
  const skipped = is_settled ? nothing_skipped : left_out
  /** Null while nobody wants to write one. */
  const [note, putNote] = useState<string | null>(null)
  const setNote = (next: string) => {
    keepDraft(request, 'note', next)
    putNote(next)
  }
  const [revision, setRevision] = useDraft(request, 'modify', unrevised(request))
  /** The yes that is asked about once more, what its grant means, and the code that it takes. */
  const [pending, setPending] = useState<{ call: Call; grant: string; code: string | null } | null>(null)
  const is_after = mode === 'modify' || (mode === 'confirm' && pending?.call.decision === 'modify')
  const { sentinel, hasSeen, showRest, onUncover } = useSeen(mode === 'modify' ? null : is_after ? 'changed' : 'asked')
  // What is confirmed is under the eyes of whoever confirms it.
  const subject = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const shown = subject.current?.closest('[role=region]')
    if (!shown || (mode !== 'confirm' && mode !== 'grant')) return
    // Read from its beginning, wherever the editor was left.
    if (is_after && subject.current!.offsetHeight > shown.clientHeight) subject.current!.scrollIntoView()
    // The panel takes its room when it has read what it offers, which is later.
    const observer = new ResizeObserver(() => subject.current?.scrollIntoView({ block: 'nearest' }))
    observer.observe(shown)
    return () => observer.disconnect()
  }, [mode])

  useEffect(() => catchFocus(pane.current?.querySelector<HTMLElement>('[role=region]')), [])

  useLooking(request)
  const held = heldByMe(request)
  const veto = readDraft<string | null>(request, 'veto', null)
  const why_not = whyNotDecide(request, me)
  const has_voted = waitsForOthers(request, me)
  // What is on the screen may be old while there is no connection: no key and no open panel decides then either.
  const can = why_not === null && !deciding && !held && !is_offline ? decisionsFor(request) : []
  const level = request.risk.level

  /** As it would run with the changes, while somebody makes or confirms them. */
  const after = is_after ? revised(request, revision, skipped) : null
  // What does not fit is nothing to compare with.
  const differences = after && revision.is_valid ? changes(changeable(request), changeable(after)) : []
  /** Why the change that is being made cannot be sent yet. */
  const unready = mode === 'modify' ? (whatIsMissing(request, revision, skipped) ?? (differences.length ? null : 'Nothing is changed yet.')) : null

  const is_note_long = note !== null && wordsTooLong(note) !== null
  const noted = note?.trim() ? { note: note.trim() } : {}
  /** What a yes means now: with changes, without some steps, or as it is. */
  const yes = (): Call => {
    if (after) return { ...modification(after), ...noted }
    if (skipped.size && request.plan) {
      const approved_steps = request.plan.steps.map((step) => step.order).filter((order) => !skipped.has(order))
      return { decision: 'approve', approved_steps, ...noted }
    }
    return { decision: 'approve', ...noted }
  }

  const is_here = useRef(false)
  useEffect(() => {
    is_here.current = true
    return () => void (is_here.current = false)
  }, [])
  /** If the server takes a change only with a code, the second look comes up, with what was sent. */
  const send = (call: Call) =>
    onDecide(call, (code) => {
      if (!is_here.current) return false
      setRevision(revision)
      setSkipped(skipped)
      setPending({ call, grant: '', code })
      putMode('confirm')
      return true
    })

  const needs_code = request.requirement.confirm !== null
  /** What one press uncovers: that may in turn have covered parts. */
  const uncover = (): string[] => {
    const kinds: string[] = []
    for (let depth = 0; depth < 4; ++depth) {
      const buttons = [...(pane.current?.querySelectorAll<HTMLElement>(covered) ?? [])]
      if (buttons.length === 0) break
      kinds.push(...buttons.map((button) => button.dataset['covered']!))
      flushSync(() => buttons.forEach((button) => button.click()))
    }
    return kinds
  }
  /** If not, the rest is shown, and the next press counts. */
  const hasRead = () => {
    // Where it stands hidden, nothing was read and nothing can be shown.
    if (!pane.current?.getClientRects().length) return false
    const kinds = uncover()
    if (kinds.length === 0 && hasSeen()) {
      setHint(null)
      return true
    }
    if (kinds.length === 0) showRest()
    onShown()
    const what = kinds.length ? `: what was ${[...new Set(kinds)].join(' and ')} is shown now` : ''
    setHint(`There is more to read${what}. ${request.kind === 'input' ? 'Answer' : 'Approve'} again when you have.`)
    return false
  }
  /** A code is no slip of a finger, unless there was more to read: that press is not the one after it as well. */
  const isConfirmed = (press: Press) => (hint === null || admits(press)) && hasRead()
  const approve = (press: Press) => {
    if (!can.includes('approve') || is_note_long || !admits(press)) return
    if (mode === 'confirm') return pending?.code === null && hasRead() ? send(pending.call) : undefined
    // A field shows a part of what it holds: what is sent was seen whole, after the change.
    if (mode === 'modify') return unready ? undefined : confirm(yes())
    // Whoever began to say something else says that, or goes back first.
    if (mode !== 'read' || !hasRead()) return
    const call = yes()
    if (needs_code || level === 'high' || level === 'critical') return confirm(call)
    send(call)
  }
  const confirm = (call: Call, grant = '') => {
    setPending({ call, grant, code: request.requirement.confirm })
    setMode('confirm')
  }
  const answer = (press: Press) => {
    if (!can.includes('answer') || !admits(press)) return
    const checked = checkAnswer(request.input!, draft, isHalf(pane.current))
    if ('error' in checked) {
      setDraftError(checked.error)
      return pane.current?.querySelector<HTMLElement>('[data-answer]')?.focus()
    }
    if (hasRead()) send({ decision: 'answer', answer: checked.value })
  }
  /** The panel was the second look that high risk asks for; a code is typed all the same. */
  const approveWithGrant = (given: Call, meaning: string) => {
    const call = { ...given, ...noted }
    if (!needs_code) return send(call)
    confirm(call, meaning)
  }
  const is_put_off = isSnoozed(request)
  const putOff = () => {
    if (is_put_off) return onSnooze(null)
    if (Date.parse(request.expires_at) - serverNow() <= returns_before_ms) return tell('It ends too soon to be put off.')
    setMode('snooze')
  }
  const can_grant = can.includes('approve') && mayGrant(request)
  const openGrant = () => {
    if (mode === 'read' && can_grant && !is_note_long && hasRead()) setMode('grant')
  }
  const enter = (next: Mode, decision: DecisionCall['decision']) => () => {
    if (mode === 'read' && can.includes(decision)) setMode(next)
  }
  const skip = (order: number) => setSkipped(new Set(skipped.has(order) ? [...skipped].filter((one) => one !== order) : [...skipped, order]))
  const openNote = () => {
    if (can.includes('approve') && (mode === 'read' || mode === 'modify')) putNote(note ?? readDraft(request, 'note', ''))
  }
  const closeNote = () => {
    // Before the field goes, and the focus with it.
    pane.current?.querySelector<HTMLElement>('[data-opens=menu], [data-opens=note]')?.focus({ preventScroll: true })
    setNote('')
    putNote(null)
  }
  /** From the second look back to what led there; from anything else back to the request. */
  const leave = () => setMode(mode !== 'confirm' ? 'read' : pending?.grant ? 'grant' : after ? 'modify' : 'read')

  useKeys({
    a: (event) => (request.kind === 'input' ? undefined : approve(event)),
    v: () => (can.includes('answer') ? pane.current?.querySelector<HTMLElement>('[data-answer]')?.focus() : undefined),
    r: enter('reject', 'reject'),
    m: enter('modify', 'modify'),
    w: openNote,
    d: enter('defer', 'defer'),
    e: enter('escalate', 'escalate'),
    x: enter('abort', 'abort'),
    s: openGrant,
    n: ({ repeat }) => (request.state === 'pending' && mode === 'read' && !repeat ? putOff() : undefined),
    '+': ({ repeat }) => (why_not === null && !repeat ? void prolong(request) : undefined),
    ...(mode === 'read' ? {} : { Escape: leave }),
    ...(mode === 'confirm' ? { Enter: approve } : {}),
    // Whoever has opened one of these may write already, before it is here: a Space is no choice of a row then.
    ...(mode === 'defer' || mode === 'escalate' || mode === 'abort' || mode === 'snooze' || mode === 'grant' ? { any: () => undefined } : {}),
    ...(request.state === 'settled' && onGoOn ? { j: onGoOn } : {}),
  })

  const labels = request.confirmation
    ? confirmationLabels(request.confirmation)
    : { yes: after ? 'Approve with changes' : skipped.size ? `Approve without ${plural(skipped.size, 'step')}` : mode === 'confirm' && pending?.grant ? 'Approve, and similar,' : 'Approve', no: 'Reject' }
  const code = pending?.code ?? null
  const is_raised = code !== null && !needs_code
  const about = after ? `It runs with ${request.response ? 'your words' : plural(differences.length, 'change')}, as shown above.` : (pending?.grant ?? '')
  const asked_again = {
    request: is_raised ? { ...request, risk: { ...request.risk, level: 'critical' as const } } : request,
    what: `${labels.yes} now`,
    can_send: pending !== null && can.includes(pending.call.decision),
    about: is_raised ? `As you changed it, this takes a code. ${about}` : about,
    onClose: leave,
  }
  const change_title = request.action ? 'Change what will run' : request.plan ? 'Change the plan' : 'Change the answer'
  // Every button of a panel comes by here. A key that opened the panel and another that sends it are no slip of a finger, nor is a code.
  const sendPressed = (call: Call, press: Press) => (!press.detail || admits(press) ? send(call) : undefined)
  const panel = { request, can_send: can.some((one) => one === mode), onSend: sendPressed, onClose: leave }
  const missing = missingVotes(request)

  return (
    <article ref={pane} className="flex min-h-0 flex-1 flex-col" aria-label="Request" data-request={request.id}>
      <div tabIndex={0} role="region" aria-label="What is asked" onClickCapture={onUncover} className="relative min-h-0 flex-1 overflow-y-auto overscroll-contain focus-visible:-outline-offset-2">
        <div className="mx-auto max-w-[52rem] px-5 pb-10 pt-5 md:px-10 md:pt-8">
          {back}
          <RiskLine request={request} />
          <Headline request={request} />
          <WhoAndWhen request={request} />
          <Others request={request} />
          <HeldByOthers request={request} />
          {request.state === 'pending' && <TimeWarning request={request} />}
          <Standing request={request} is_news={is_changed} />
          {veto !== null && request.state === 'pending' && (
            <p className="foreign m-0 mt-4 rounded-lg bg-no-wash px-4 py-3">
              <b className="font-medium text-no">You vetoed this among others alike{veto && ':'}</b> {veto && <>“<SafeText text={veto} />” </>}It is not rejected yet.
            </p>
          )}
          {(level === 'high' || level === 'critical') && request.state === 'pending' && request.risk.consequences.length > 0 && (
            <ul className={`m-0 mt-4 list-none rounded-lg px-4 py-3 ${level === 'critical' ? 'bg-critical-wash' : 'bg-high-wash'}`}>
              {request.risk.consequences.slice(0, 6).map((line, i) => (
                <li key={i} className="foreign sentence">
                  <SafeText text={line} />
                </li>
              ))}
            </ul>
          )}
          <div ref={subject} data-asked className="mt-6">
            {mode === 'modify' ? (
              <>
                <h2 className="label mb-1.5">{change_title}</h2>
                <div tabIndex={-1} data-panel role="group" aria-label={request.response ? undefined : change_title}>
                  <Suspense fallback={<Loading />}>
                    <ChangeEditor request={request} revision={revision} onChange={setRevision} skipped={skipped} onSkip={skip} />
                  </Suspense>
                </div>
              </>
            ) : (
              <Subject
                request={after ?? request}
                is_revised={after !== null}
                draft={draft}
                draft_error={draft_error}
                onDraft={(next) => {
                  setDraft(next)
                  setDraftError(null)
                }}
                onAnswer={() => answer({})}
                skipped={after ? nothing_skipped : skipped}
                onSkip={can.includes('approve') && request.requirement.modifiable && mode !== 'confirm' ? skip : null}
                can_answer={can.includes('answer')}
              />
            )}
          </div>
          <div ref={sentinel} className="h-px" />
          {differences.length > 0 && (
            <Section title="What changes">
              {request.response ? <TextDiff before={request.response.text} after={after?.response?.text ?? ''} /> : <ChangeList changes={differences} />}
            </Section>
          )}
          {!after && <LikenessLine likeness={likeness} />}
          {/* Nothing moves under a person's eyes: what stands below the comparison is seen when that is there. */}
          <div className={is_loading ? 'invisible' : undefined}>
            <AgentSays request={request} />
            <ContextView request={request} />
            <div className="mt-8 border-b border-line">
              <PolicyFold request={request} />
              <EarlierFold request={request} />
              <TimelineFold request={request} is_open={request.state === 'settled'} />
              <TechnicalFold request={request} />
            </div>
          </div>
        </div>
      </div>
      {request.state === 'settled' && onGoOn && (
        <footer className="shrink-0 border-t border-line bg-sheet px-4 pb-[max(0.75rem,env(safe-area-inset-bottom))] pt-3 md:px-10">
          <div className="mx-auto flex max-w-[47rem] items-center gap-4">
            <button type="button" className="btn min-h-11 md:min-h-10" onClick={onGoOn}>
              Go on <Key name="j" />
            </button>
            <span role="status" className="foreign text-soft">
              {visibleText(whoDecided(request))}
            </span>
          </div>
        </footer>
      )}
      {request.state === 'pending' && (
        <footer className="shrink-0 border-t border-line bg-sheet px-4 pb-[max(0.75rem,env(safe-area-inset-bottom))] pt-3 shadow-[0_-8px_24px_-18px_rgb(0_0_0/0.35)] md:px-10">
          <div className="mx-auto max-w-[47rem]">
            {mode === 'reject' && <RejectPanel {...panel} />}
            {(mode === 'defer' || mode === 'escalate' || mode === 'abort' || mode === 'snooze') && (
              <Suspense fallback={<Loading />}>
                <RarePanel {...panel} mode={mode} onSnooze={onSnooze} />
              </Suspense>
            )}
            {mode === 'grant' && (
              <Suspense fallback={<Loading />}>
                <GrantPanel request={request} can_send={can_grant} onSend={approveWithGrant} onShown={onShown} admits={admits} onClose={leave} />
              </Suspense>
            )}
            {mode === 'confirm' &&
              (code !== null ? (
                <Suspense fallback={<Loading />}>
                  <CodePanel
                    {...asked_again}
                    code={code}
                    onConfirm={(press) => isConfirmed(press) && send({ ...pending!.call, confirm: code })}
                    onPasskey={async (signal, press) => {
                      if (isConfirmed(press)) send({ ...pending!.call, passkey: await confirmDecision(request, pending!.call, signal) })
                    }}
                  />
                </Suspense>
              ) : (
                <WarnPanel {...asked_again} onConfirm={(press) => admits(press) && hasRead() && send(pending!.call)} />
              ))}
            {hint && (mode === 'read' || mode === 'modify' || mode === 'confirm') && (
              <p role="status" className="m-0 mb-2 text-[0.875rem] font-medium text-medium">
                {hint}
              </p>
            )}
            {note !== null && (mode === 'read' || mode === 'modify') && can.includes('approve') && <NoteField note={note} onChange={setNote} onSend={approve} onClose={closeNote} />}
            {deciding ? (
              <p role="status" className="m-0 flex min-h-11 items-center gap-3 text-soft">
                <Spinner /> {decidingWord[deciding]}…
              </p>
            ) : held ? (
              <HeldLine held={held} onUndo={() => void undo(request.id)} />
            ) : why_not ? (
              <p className="m-0 flex min-h-11 items-center text-soft">You cannot decide this: {visibleText(why_not)}.</p>
            ) : is_offline ? (
              <p className="m-0 flex min-h-11 items-center text-soft">No connection: what you see may be old, so deciding waits until it is back.</p>
            ) : (
              (mode === 'read' || mode === 'modify') && (
                <div className="flex flex-wrap items-center gap-2">
                  {unready && (
                    <p id={`${request.id}-unready`} className="m-0 w-full text-[0.875rem] text-soft">
                      {unready}
                    </p>
                  )}
                  {can.includes('answer') ? (
                    <button type="button" className="btn btn-yes min-h-11 flex-1 px-5 md:min-h-10 md:flex-none" onClick={answer}>
                      Answer
                    </button>
                  ) : (
                    <button type="button" className="btn btn-yes min-h-11 max-w-full flex-auto px-5 py-1 md:min-h-10 md:flex-initial md:max-lg:px-4" disabled={unready !== null || is_note_long} aria-describedby={unready ? `${request.id}-unready` : undefined} data-opens="confirm" onClick={approve}>
                      <span className="foreign max-h-[20dvh] overflow-y-auto">{labels.yes}</span> <Key name="a" />
                    </button>
                  )}
                  {mode === 'modify' ? (
                    <>
                      <button type="button" data-opens="note" className="btn min-h-11 md:min-h-10" onClick={openNote}>
                        Note <Key name="w" />
                      </button>
                      <button type="button" className="btn min-h-11 md:min-h-10" onClick={leave}>
                        Back
                      </button>
                    </>
                  ) : (
                    <>
                      <button type="button" className="btn btn-no min-h-11 max-w-full px-4 py-1 md:min-h-10 md:max-lg:px-3" data-opens="reject" onClick={enter('reject', 'reject')}>
                        <span className="foreign max-h-[20dvh] overflow-y-auto">{labels.no}</span> <Key name="r" />
                      </button>
                      {can.includes('modify') && (
                        <button type="button" data-opens="modify" className="btn hidden min-h-11 sm:inline-flex md:min-h-10" onClick={enter('modify', 'modify')}>
                          Modify <Key name="m" />
                        </button>
                      )}
                      <Menu
                        items={[
                          ...(can.includes('modify') ? [{ label: 'Modify', key: 'm', onPick: enter('modify', 'modify') }] : []),
                          ...(can.includes('approve') ? [{ label: 'Approve with a note', key: 'w', onPick: openNote }] : []),
                          ...(can_grant ? [{ label: 'Approve similar for a while', key: 's', onPick: openGrant }] : []),
                          { label: 'Defer: try another way', key: 'd', onPick: enter('defer', 'defer') },
                          { label: 'Escalate to others', key: 'e', onPick: enter('escalate', 'escalate') },
                          { label: is_put_off ? 'Bring back to the list' : 'Not now: put it off', key: 'n', onPick: putOff },
                          { label: 'Five more minutes', key: '+', onPick: () => void prolong(request) },
                          { label: 'Abort the whole run', key: 'x', onPick: enter('abort', 'abort') },
                        ]}
                      />
                      <span className="ml-auto hidden text-right text-[0.8125rem] text-faint md:block">
                        {has_voted ? 'You have voted. ' : ''}
                        {missing > 1 ? `${missing} people needed` : request.requirement.lines.some((line) => line.group || line.people) ? visibleText(whoDecides(request)) : ''}
                      </span>
                    </>
                  )}
                </div>
              )
            )}
          </div>
        </footer>
      )}
    </article>
  )
}
