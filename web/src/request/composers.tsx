// What unfolds above the decision bar: the words that go with a decision. Enter sends, Escape goes back, 1 to 4 take a
// prepared sentence.
import { useEffect, useId, useRef, type KeyboardEvent, type ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { tooLong } from '../model/answer'
import { beginning } from '../model/fold'
import type { Press } from '../model/guard'
import { visibleText } from '../model/marked_text'
import { claimedConsequences, reversibilityOf, reversibilityWord } from '../model/words'
import { useDraft } from '../state/drafts'
import { WarnIcon } from '../ui/icons'
import { Key } from '../ui/parts'
import { SafeText } from '../ui/safe_text'
import type { DecisionCall, Request } from '../wire'
import { useArming } from './changed'

type Call = Omit<DecisionCall, 'digest'>
export type Props = {
  request: Request
  /** False once this person cannot decide it any more: somebody else may be asked by now. What they wrote stays. */
  can_send: boolean
  onSend: (call: Call, press: Press) => void
  onClose: () => void
}

/** In bytes, as the server counts. */
const words_max = 2000
export const wordsTooLong = (text: string): string | null => tooLong(text.trim(), words_max)

export function TooLong({ id, text }: { id: string; text: string }) {
  const problem = wordsTooLong(text)
  return (
    <p id={`${id}-long`} role="status" className="m-0 mt-1 text-[0.875rem] text-no empty:m-0">
      {problem}
    </p>
  )
}

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

/** The buttons of a panel; the last one leads back. */
export function Foot({ children, onClose }: { children: ReactNode; onClose: () => void }) {
  return (
    <div className="panel-foot flex flex-wrap items-end gap-2">
      {children}
      <button type="button" className="btn btn-quiet min-h-11 md:min-h-9" onClick={onClose}>
        Back
      </button>
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
  can_send: boolean
  button: string
  button_class: string
  onSend: (words: string, press: Press) => void
  onClose: () => void
}

export function Words({ request, of, label, presets, is_required, can_send, button, button_class, onSend, onClose }: WordsProps) {
  const [text, setText] = useDraft(request, of, '')
  const field = useRef<HTMLTextAreaElement>(null)
  const id = useId()
  useEffect(() => field.current?.focus(), [])
  const is_ready = can_send && (!is_required || text.trim() !== '') && !wordsTooLong(text)
  /** The digit that was a prepared sentence, in the moment in which it may still be the first of a number. */
  const digit = useRef<{ key: string; sentence: string; until: number } | null>(null)
  const send = (press: Press) => is_ready && onSend(text.trim(), press)
  const onKeyDown = (event: KeyboardEvent) => {
    const preset = presets[Number(event.key) - 1]
    const before = digit.current
    // A digit that is held is one press.
    if (before && event.repeat) return event.preventDefault()
    if (event.key.length === 1 && !event.ctrlKey && !event.metaKey) digit.current = null
    if (before && !digit.current && before.sentence === text && event.timeStamp < before.until) {
      // They write on. The character itself follows, behind the digit.
      flushSync(() => setText(before.key))
    } else if (preset && text === '') {
      event.preventDefault()
      digit.current = { key: event.key, sentence: preset, until: event.timeStamp + digit_ms }
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
      <textarea ref={field} id={id} rows={2} aria-describedby={`${id}-long`} className="field block" placeholder={label} value={text} onChange={(event) => setText(event.target.value)} onKeyDown={onKeyDown} />
      <TooLong id={id} text={text} />
      <Foot onClose={onClose}>
        <button type="button" className={`btn min-h-11 md:min-h-9 ${button_class}`} disabled={!is_ready} onClick={send}>
          {button}
        </button>
      </Foot>
    </>
  )
}

/** Whoever chose a sentence reads it first; whoever writes a number goes on at once. */
const digit_ms = 1000

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
      <textarea ref={field} id={id} rows={2} aria-describedby={`${id}-long`} className="field block" value={note} onChange={(event) => onChange(event.target.value)} onKeyDown={onKeyDown} />
      <TooLong id={id} text={note} />
    </div>
  )
}

const reject_words = ['The values are wrong.', 'This is not needed.', 'Too risky; find a safer way.', 'It was already done.']

export function RejectPanel({ request, can_send, onSend, onClose }: Props) {
  const is_required = request.requirement.reason_required
  return (
    <Panel title="Reject: it will not run" onClose={onClose}>
      <Words
        request={request}
        of="reject"
        label={is_required ? 'Why? The agent reads this. (needed)' : 'Why? The agent reads this.'}
        presets={reject_words}
        is_required={is_required}
        can_send={can_send}
        button="Reject"
        button_class="btn-stop"
        onSend={(reason, press) => onSend({ decision: 'reject', ...(reason ? { reason } : {}) }, press)}
        onClose={onClose}
      />
    </Panel>
  )
}

export function Consequences({ request, about = '' }: { request: Request; about?: string }) {
  const reversibility = reversibilityOf(request)
  // What stands above as well is not said three times: that it cannot be undone, and what led to the risk.
  const { consequences, factors } = request.risk
  const lines = (consequences.length ? consequences : factors).filter((line) => !(reversibility === 'irreversible' && line === 'there is no way back once it has run'))
  return (
    <div className="mb-2 flex items-start gap-2">
      <span className={request.risk.level === 'critical' ? 'text-critical' : 'text-high'}>
        <WarnIcon />
      </span>
      <div>
        {about && <p className="foreign m-0 font-medium">{visibleText(about)}</p>}
        {reversibility && <p className="m-0 font-medium">It {reversibilityWord[reversibility]}.</p>}
        {claimedConsequences(request.risk.claimed).slice(0, 2).map((line, i) => (
          <p key={i} className="foreign m-0 font-medium">
            {visibleText(request.agent)} says: <SafeText text={beginning(line, 200)} />
          </p>
        ))}
        {lines.slice(0, 4).map((line, i) => (
          <p key={i} className="foreign sentence m-0 text-soft">
            <SafeText text={line} />
          </p>
        ))}
      </div>
    </div>
  )
}

export type ConfirmProps = {
  request: Request
  what: string
  /** What goes beyond a plain yes: changes, or what else passes. */
  about: string
  can_send: boolean
  onConfirm: (press: Press) => void
  onClose: () => void
}

/** High risk: the warning, and a second press. So for every change, which is seen whole before it is sent. */
export function WarnPanel({ request, what, about, can_send, onConfirm, onClose }: ConfirmProps) {
  const is_arming = useArming(true)
  const is_high = request.risk.level === 'high' || request.risk.level === 'critical'
  return (
    <Panel title={is_high ? 'High risk: look once more' : 'Your change: look once more'} onClose={onClose}>
      {is_high ? <Consequences request={request} about={about} /> : <p className="m-0 mb-2">{about}</p>}
      <Foot onClose={onClose}>
        <button type="button" className="btn btn-yes min-h-11 max-w-full py-1 md:min-h-9" disabled={!can_send} aria-disabled={is_arming} onClick={onConfirm}>
          <span className="foreign">{what}</span> <Key name="↵" />
        </button>
      </Foot>
    </Panel>
  )
}
