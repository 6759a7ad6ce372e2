// What unfolds above the decision bar: the words that go with a decision. Enter sends, Escape goes back, 1 to 4 take a
// prepared sentence.
import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { client } from '../client'
import { sentence } from '../errors'
import { beginning } from '../model/fold'
import type { Press } from '../model/guard'
import { visibleText } from '../model/marked_text'
import { snoozeChoices } from '../model/snooze'
import { reversibilityOf, reversibilityWord, plural } from '../model/words'
import { useDraft } from '../state/drafts'
import { useInbox, wantInbox } from '../state/inbox'
import { useLoad } from '../state/load'
import { canUsePasskeys, passkeyProblem } from '../state/passkeys'
import { WarnIcon } from '../ui/icons'
import { Problem, Spinner } from '../ui/parts'
import { SafeText } from '../ui/safe_text'
import type { DecisionCall, Request } from '../wire'
import { useArming } from './changed'

type Call = Omit<DecisionCall, 'digest'>
type Props = { request: Request; onSend: (call: Call, press: Press) => void; onClose: () => void }

const words_max = 2000

export function Panel({ title, children, onClose }: { title: string; children: ReactNode; onClose: () => void }) {
  return (
    <div
      role="group"
      aria-label={title}
      tabIndex={-1}
      data-panel
      className="panel rising"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        // It closes this, and not the dialog around it.
        event.preventDefault()
        event.stopPropagation()
        onClose()
      }}
    >
      <p className="m-0 mb-2 font-semibold">{title}</p>
      {children}
    </div>
  )
}

type WordsProps = {
  request: Request
  /** Which decision they go with. */
  of: string
  label: string
  presets: string[]
  is_required: boolean
  button: string
  button_class: string
  onSend: (words: string, press: Press) => void
  onClose: () => void
}

function Words({ request, of, label, presets, is_required, button, button_class, onSend, onClose }: WordsProps) {
  const [text, setText] = useDraft(request, of, '')
  const field = useRef<HTMLTextAreaElement>(null)
  const id = useId()
  useEffect(() => field.current?.focus(), [])
  const is_ready = !is_required || text.trim() !== ''
  const send = (press: Press) => is_ready && onSend(text.trim(), press)
  const onKeyDown = (event: KeyboardEvent) => {
    const preset = presets[Number(event.key) - 1]
    if (preset && text === '') {
      event.preventDefault()
      setText(preset)
    } else if (event.key === 'Enter' && !event.shiftKey && !event.repeat && !event.nativeEvent.isComposing) {
      event.preventDefault()
      send(event)
    }
  }
  return (
    <>
      <div className="mb-2 flex flex-wrap gap-1.5">
        {presets.map((preset, i) => (
          <button
            key={preset}
            type="button"
            className="chip min-h-9 border border-line text-left hover:border-edge hover:text-ink md:min-h-7"
            onClick={() => {
              setText(preset)
              field.current?.focus()
            }}
          >
            <kbd aria-hidden="true" className="hidden font-mono text-[0.75rem] text-faint md:inline">
              {i + 1}
            </kbd>
            {preset}
          </button>
        ))}
      </div>
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      <textarea ref={field} id={id} rows={2} maxLength={words_max} className="field block" placeholder={label} value={text} onChange={(event) => setText(event.target.value)} onKeyDown={onKeyDown} />
      <div className="panel-foot flex gap-2">
        <button type="button" className={`btn min-h-11 md:min-h-9 ${button_class}`} disabled={!is_ready} onClick={send}>
          {button}
        </button>
        <button type="button" className="btn btn-quiet min-h-11 md:min-h-9" onClick={onClose}>
          Back
        </button>
      </div>
    </>
  )
}

type NoteProps = { note: string; onChange: (note: string) => void; onSend: (press: Press) => void; onClose: () => void }

/** A note that goes with a yes of any form: the button of the bar sends it, and so does Enter. */
export function NoteField({ note, onChange, onSend, onClose }: NoteProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const id = useId()
  useEffect(() => field.current?.focus(), [])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' && (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing)) return
    event.preventDefault()
    event.stopPropagation()
    if (event.key === 'Escape') onClose()
    else onSend(event)
  }
  return (
    <div className="rising mb-3">
      <label htmlFor={id} className="label mb-1 block">
        A note with your approval. The agent reads it.
      </label>
      <textarea ref={field} id={id} rows={2} maxLength={words_max} className="field block" value={note} onChange={(event) => onChange(event.target.value)} onKeyDown={onKeyDown} />
    </div>
  )
}

const reject_words = ['The values are wrong.', 'This is not needed.', 'Too risky; find a safer way.', 'It was already done.']

export function RejectPanel({ request, onSend, onClose }: Props) {
  const is_required = request.requirement.reason_required
  return (
    <Panel title="Reject: it will not run" onClose={onClose}>
      <Words
        request={request}
        of="reject"
        label={is_required ? 'Why? The agent reads this. (needed)' : 'Why? The agent reads this.'}
        presets={reject_words}
        is_required={is_required}
        button="Reject"
        button_class="btn-stop"
        onSend={(reason, press) => onSend({ decision: 'reject', ...(reason ? { reason } : {}) }, press)}
        onClose={onClose}
      />
    </Panel>
  )
}

const defer_words = [
  'Explain first why this is needed.',
  'Try it on a test system first.',
  'Do it in smaller steps.',
  'Find a way that can be undone.',
]

export function DeferPanel({ request, onSend, onClose }: Props) {
  return (
    <Panel title="Defer: it will not run, and the agent tries another way" onClose={onClose}>
      <Words
        request={request}
        of="defer"
        label="What should the agent try instead? (needed)"
        presets={defer_words}
        is_required
        button="Defer"
        button_class="btn-yes"
        onSend={(guidance, press) => onSend({ decision: 'defer', guidance }, press)}
        onClose={onClose}
      />
    </Panel>
  )
}

export function AbortPanel({ request, onSend, onClose }: Props) {
  useEffect(wantInbox, [])
  const is_complete = useInbox((inbox) => inbox.is_complete)
  const others = useInbox((inbox) =>
    request.session ? [...inbox.requests.values()].filter((other) => other.id !== request.id && other.session === request.session && other.state === 'pending').length : 0,
  )
  return (
    <Panel title="Abort: the whole run stops" onClose={onClose}>
      <p className="mb-2 mt-0 flex items-start gap-2 text-no">
        <WarnIcon />
        <span>
          {visibleText(request.agent)} is told to do nothing further{request.session ? ` in session ${visibleText(beginning(request.session, 60))}` : ''}.
          {request.session && !is_complete && ' Whatever else of it waits will end too.'}
          {is_complete && others > 0 && ` ${plural(others, 'other waiting request')} of it will end too.`}
        </span>
      </p>
      <Words
        request={request}
        of="abort"
        label={request.requirement.reason_required ? 'Why? (needed)' : 'Why?'}
        presets={['It is going the wrong way.', 'It was started by mistake.']}
        is_required={request.requirement.reason_required}
        button="Abort the run"
        button_class="btn-stop"
        onSend={(reason, press) => onSend({ decision: 'abort', ...(reason ? { reason } : {}) }, press)}
        onClose={onClose}
      />
    </Panel>
  )
}

/** Out of one's own sight for a while; the deadline goes on. */
export function SnoozePanel({ onPick, onClose }: { onPick: (until: Date) => void; onClose: () => void }) {
  const first = useRef<HTMLButtonElement>(null)
  useEffect(() => first.current?.focus(), [])
  return (
    <Panel title="Not now: put it off" onClose={onClose}>
      <p className="mb-2 mt-0 text-[0.875rem] text-soft">
        Only for you. Others still see it, its time goes on, and it is back two minutes before it ends.
      </p>
      <div className="panel-foot flex flex-wrap gap-2">
        {snoozeChoices(new Date()).map(({ label, until }, i) => (
          <button key={label} ref={i === 0 ? first : undefined} type="button" className="btn min-h-11 md:min-h-9" onClick={() => onPick(until)}>
            {label}
          </button>
        ))}
        <button type="button" className="btn btn-quiet min-h-11 md:min-h-9" onClick={onClose}>
          Back
        </button>
      </div>
    </Panel>
  )
}

export function EscalatePanel({ request, onSend, onClose }: Props) {
  const { data: users, error, is_loading } = useLoad('users', client.users, { fresh_ms: 60_000 })
  const people = users?.filter((user) => user.role !== 'agent' && user.role !== 'auditor' && !user.disabled) ?? []
  const groups = [...new Set(people.flatMap((user) => user.groups))].sort()
  const [target, setTarget] = useState('')
  const [note, setNote] = useDraft(request, 'escalate', '')
  const id = useId()
  const field = useRef<HTMLSelectElement>(null)
  useEffect(() => field.current?.focus(), [])
  return (
    <Panel title="Escalate: somebody else decides" onClose={onClose}>
      {is_loading && <Spinner />}
      <Problem error={error} />
      <div className="grid gap-2 sm:grid-cols-2">
        <div>
          <label htmlFor={`${id}-to`} className="label mb-1 block">
            To
          </label>
          <select ref={field} id={`${id}-to`} className="field" value={target} onChange={(event) => setTarget(event.target.value)}>
            <option value="">choose…</option>
            {groups.length > 0 && (
              <optgroup label="Groups">
                {groups.map((group) => (
                  <option key={group} value={`group:${group}`}>
                    {visibleText(group)}
                  </option>
                ))}
              </optgroup>
            )}
            <optgroup label="People">
              {people.map((user) => (
                <option key={user.id} value={user.name}>
                  {visibleText(user.name)}
                </option>
              ))}
            </optgroup>
          </select>
        </div>
        <div>
          <label htmlFor={`${id}-note`} className="label mb-1 block">
            A word to them
          </label>
          <input id={`${id}-note`} className="field" maxLength={words_max} value={note} onChange={(event) => setNote(event.target.value)} />
        </div>
      </div>
      <div className="panel-foot flex gap-2">
        <button type="button" className="btn btn-yes min-h-11 md:min-h-9" disabled={!target} onClick={(press) => onSend({ decision: 'escalate', to: target, ...(note ? { note } : {}) }, press)}>
          Escalate
        </button>
        <button type="button" className="btn btn-quiet min-h-11 md:min-h-9" onClick={onClose}>
          Back
        </button>
      </div>
    </Panel>
  )
}

export function Consequences({ request, about = '' }: { request: Request; about?: string }) {
  const reversibility = reversibilityOf(request)
  const said = reversibility ? reversibilityWord[reversibility] : ''
  const lines = [...new Set([...request.risk.consequences, ...request.risk.factors])].filter((line) => line !== said)
  return (
    <div className="mb-2 flex items-start gap-2">
      <span className={request.risk.level === 'critical' ? 'text-critical' : 'text-high'}>
        <WarnIcon />
      </span>
      <div>
        {about && <p className="foreign m-0 font-medium">{visibleText(about)}</p>}
        {reversibility && <p className="m-0 font-medium">It {reversibilityWord[reversibility]}.</p>}
        {lines.slice(0, 4).map((line, i) => (
          <p key={i} className="foreign sentence m-0 text-soft">
            <SafeText text={line} />
          </p>
        ))}
      </div>
    </div>
  )
}

type ConfirmProps = {
  request: Request
  what: string
  /** What goes beyond a plain yes: changes, or what else passes. */
  about: string
  onConfirm: (press: Press) => void
  onClose: () => void
}

/** High risk: the warning, and a second press. */
export function WarnPanel({ request, what, about, onConfirm, onClose }: ConfirmProps) {
  const is_arming = useArming(true)
  return (
    <Panel title="High risk: look once more" onClose={onClose}>
      <Consequences request={request} about={about} />
      <div className="panel-foot flex gap-2">
        <button type="button" className="btn btn-yes min-h-11 md:min-h-9" aria-disabled={is_arming} onClick={onConfirm}>
          {what}
        </button>
        <button type="button" className="btn btn-quiet min-h-11 md:min-h-9" onClick={onClose}>
          Back
        </button>
      </div>
    </Panel>
  )
}

/** The code of exactly this content must be typed. */
export function CodePanel({ request, code, what, about, onConfirm, onPasskey, onClose }: ConfirmProps & { code: string; onPasskey: () => Promise<void> }) {
  const { data: passkeys } = useLoad(canUsePasskeys() ? 'passkeys' : null, client.passkeys, { fresh_ms: 60_000 })
  const [problem, setProblem] = useState<string | null>(null)
  const confirmWithPasskey = async () => {
    setProblem(null)
    try {
      await onPasskey()
    } catch (error) {
      setProblem(passkeyProblem(error) ?? sentence(error))
    }
  }
  const [typed, setTyped] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  useEffect(() => field.current?.focus(), [])
  const is_right = typed.trim() === code
  return (
    <Panel title="Critical: confirm what you release" onClose={onClose}>
      <Consequences request={request} about={about} />
      {problem && (
        <p role="alert" className="m-0 mb-2 text-no">
          {problem}
        </p>
      )}
      <div className="panel-foot flex flex-wrap items-end gap-3">
        <div>
          <label htmlFor={id} className="label mb-1 block">
            Type <b className="font-mono text-[1rem] tracking-widest text-ink">{code}</b>
          </label>
          <input
            ref={field}
            id={id}
            className="field w-32 font-mono text-lg tracking-widest"
            inputMode="numeric"
            autoComplete="off"
            maxLength={8}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            onKeyDown={(event) => event.key === 'Enter' && !event.repeat && is_right && onConfirm(event)}
          />
        </div>
        <button type="button" className="btn btn-yes min-h-11 md:min-h-9" disabled={!is_right} onClick={onConfirm}>
          {what}
        </button>
        {passkeys && passkeys.length > 0 && (
          <button type="button" className="btn min-h-11 md:min-h-9" onClick={() => void confirmWithPasskey()}>
            Confirm with a passkey
          </button>
        )}
        <button type="button" className="btn btn-quiet min-h-11 md:min-h-9" onClick={onClose}>
          Back
        </button>
      </div>
    </Panel>
  )
}
