// The panels that are needed less often, fetched when nothing else goes on: defer, abort, put off, escalate.
import { useEffect, useId, useRef, useState } from 'react'
import { client } from '../client'
import { beginning } from '../model/fold'
import type { Press } from '../model/guard'
import { visibleText } from '../model/marked_text'
import { snoozeChoices } from '../model/snooze'
import { serverNow } from '../model/time'
import { plural } from '../model/words'
import { useDraft } from '../state/drafts'
import { useInbox, wantInbox } from '../state/inbox'
import { useLoad } from '../state/load'
import { useMe } from '../state/session'
import { WarnIcon } from '../ui/icons'
import { Problem, Spinner } from '../ui/parts'
import { Foot, Panel, TooLong, Words, wordsTooLong, type Props } from './composers'

const defer_words = [
  'Explain first why this is needed.',
  'Try it on a test system first.',
  'Do it in smaller steps.',
  'Find a way that can be undone.',
]

function DeferPanel({ request, can_send, onSend, onClose }: Props) {
  return (
    <Panel title="Defer: it will not run, and the agent tries another way" onClose={onClose}>
      <Words
        request={request}
        of="defer"
        label="What should the agent try instead? (needed)"
        presets={defer_words}
        is_required
        can_send={can_send}
        button="Defer"
        button_class="btn-yes"
        onSend={(guidance, press) => onSend({ decision: 'defer', guidance }, press)}
        onClose={onClose}
      />
    </Panel>
  )
}

function AbortPanel({ request, can_send, onSend, onClose }: Props) {
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
        can_send={can_send}
        button="Abort the run"
        button_class="btn-stop"
        onSend={(reason, press) => onSend({ decision: 'abort', ...(reason ? { reason } : {}) }, press)}
        onClose={onClose}
      />
    </Panel>
  )
}

/** Out of one's own sight for a while; the deadline goes on. */
function SnoozePanel({ onPick, onClose }: { onPick: (until: Date) => void; onClose: () => void }) {
  const first = useRef<HTMLButtonElement>(null)
  useEffect(() => first.current?.focus(), [])
  return (
    <Panel title="Not now: put it off" onClose={onClose}>
      <p className="mb-2 mt-0 text-[0.875rem] text-soft">
        Only for you. Others still see it, its time goes on, and it is back two minutes before it ends.
      </p>
      <Foot onClose={onClose}>
        {snoozeChoices(new Date(serverNow())).map(({ label, until }, i) => (
          <button key={label} ref={i === 0 ? first : undefined} type="button" className="btn min-h-11 md:min-h-9" onClick={() => onPick(until)}>
            {label}
          </button>
        ))}
      </Foot>
    </Panel>
  )
}

function EscalatePanel({ request, can_send, onSend, onClose }: Props) {
  const { data: users, error, is_loading } = useLoad('users', client.users, { fresh_ms: 60_000 })
  const people = users?.filter((user) => user.role !== 'agent' && user.role !== 'auditor' && !user.disabled) ?? []
  const groups = [...new Set(people.flatMap((user) => user.groups))].sort()
  const me = useMe()
  const [target, setTarget] = useState('')
  const [note, setNote] = useDraft(request, 'escalate', '')
  const id = useId()
  const field = useRef<HTMLSelectElement>(null)
  useEffect(() => field.current?.focus(), [])
  const is_ready = can_send && target !== '' && !wordsTooLong(note)
  const send = (press: Press) => is_ready && onSend({ decision: 'escalate', to: target, ...(note ? { note } : {}) }, press)
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
              {people.filter(({ name }) => name !== me.name).map((user) => (
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
          <input
            id={`${id}-note`}
            aria-describedby={`${id}-note-long`}
            className="field"
            value={note}
            onChange={(event) => setNote(event.target.value)}
            onKeyDown={(event) => event.key === 'Enter' && !event.repeat && !event.nativeEvent.isComposing && send(event)}
          />
          <TooLong id={`${id}-note`} text={note} />
        </div>
      </div>
      <Foot onClose={onClose}>
        <button type="button" className="btn btn-yes min-h-11 md:min-h-9" disabled={!is_ready} onClick={send}>
          Escalate
        </button>
      </Foot>
    </Panel>
  )
}

type RareProps = Props & { mode: 'defer' | 'escalate' | 'abort' | 'snooze'; onSnooze: (until: Date) => void }

export default function RarePanel({ mode, onSnooze, ...panel }: RareProps) {
  switch (mode) {
    case 'defer':
      return <DeferPanel {...panel} />
    case 'escalate':
      return <EscalatePanel {...panel} />
    case 'abort':
      return <AbortPanel {...panel} />
    case 'snooze':
      return <SnoozePanel onPick={onSnooze} onClose={panel.onClose} />
  }
}
