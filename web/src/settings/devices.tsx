// Where one is signed in, with what one signs in, and where one is told.
import { useState, type ReactNode } from 'react'
import { client } from '../client'
import { sentence } from '../errors'
import { visibleText } from '../model/marked_text'
import { formatAgo, formatMoment } from '../model/time'
import { useLoad } from '../state/load'
import { tell } from '../state/notices'
import { canUsePasskeys, passkeyProblem } from '../state/passkeys'
import { browserName, canPush, pushHere, startPush, stopPush } from '../state/push'
import { useMe } from '../state/session'
import { Problem, Spinner } from '../ui/parts'
import { makePasskey } from './make_passkey'

const problemOf = (error: unknown): string => passkeyProblem(error) ?? sentence(error)

/** Runs something a button started; says what went wrong. */
function useAttempt(): { is_busy: boolean; attempt: (work: () => Promise<unknown>, done?: string) => void } {
  const [is_busy, setBusy] = useState(false)
  const attempt = (work: () => Promise<unknown>, done?: string) => {
    setBusy(true)
    work()
      .then(() => done && tell(done, { tone: 'good' }))
      .catch((error: unknown) => tell(problemOf(error), { tone: 'bad' }))
      .finally(() => setBusy(false))
  }
  return { is_busy, attempt }
}

function Item({ title, detail, children }: { title: ReactNode; detail: ReactNode; children?: ReactNode }) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line py-2.5 last:border-0">
      <div className="min-w-40 flex-1">
        <p className="foreign m-0 font-medium">{title}</p>
        <p className="foreign m-0 text-[0.875rem] text-soft">{detail}</p>
      </div>
      {children}
    </li>
  )
}

function Named({ name, is_here }: { name: string; is_here: boolean }) {
  return (
    <>
      {visibleText(name)} {is_here && <span className="chip ml-1">this one</span>}
    </>
  )
}

function Rename({ name, onSave, onClose }: { name: string; onSave: (name: string) => void; onClose: () => void }) {
  const [text, setText] = useState(name)
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        onSave(text.trim())
      }}
    >
      <input autoFocus aria-label={`New name of ${visibleText(name)}`} className="field w-48" required maxLength={100} value={text} onChange={(event) => setText(event.target.value)} />
      <button type="submit" className="btn">
        Save
      </button>
      <button type="button" className="btn btn-quiet px-2" onClick={onClose}>
        Back
      </button>
    </form>
  )
}

export function Passkeys() {
  const [renamed, setRenamed] = useState<string | null>(null)
  const { data, error, is_loading, renew } = useLoad('passkeys', client.passkeys)
  const { is_busy, attempt } = useAttempt()
  return (
    <>
      <p className="m-0 mb-3 text-soft">A passkey signs you in with a fingerprint, a face or the PIN of your device, and confirms critical decisions: what it signs belongs to exactly what you saw.</p>
      <Problem error={error} />
      {is_loading && <Spinner />}
      <ul className="m-0 mb-3 list-none p-0">
        {data?.map((passkey) => (
          <Item key={passkey.id} title={visibleText(passkey.name)} detail={`made ${formatMoment(passkey.created_at)}${passkey.last_used_at ? ` · used ${formatAgo(passkey.last_used_at)}` : ''}${passkey.backed_up ? ' · on all your devices' : ''}`}>
            {renamed === passkey.id ? (
              <Rename name={passkey.name} onSave={(name) => attempt(() => client.renamePasskey(passkey.id, name).then(() => (setRenamed(null), renew())), 'The passkey has another name.')} onClose={() => setRenamed(null)} />
            ) : (
              <button type="button" className="btn btn-quiet px-2" disabled={is_busy} onClick={() => setRenamed(passkey.id)}>
                Rename<span className="sr-only"> {visibleText(passkey.name)}</span>
              </button>
            )}
            <button type="button" className="btn btn-quiet px-2 text-no" disabled={is_busy} onClick={({ detail }) => detail < 2 && attempt(() => client.removePasskey(passkey.id).then(renew), 'The passkey is removed.')}>
              Remove<span className="sr-only"> {visibleText(passkey.name)}</span>
            </button>
          </Item>
        ))}
      </ul>
      {canUsePasskeys() ? (
        <button type="button" className="btn" disabled={is_busy} onClick={() => attempt(() => makePasskey(browserName()).then(renew), 'The passkey is ready.')}>
          {is_busy ? <Spinner /> : 'Add a passkey'}
        </button>
      ) : (
        <p className="m-0 text-[0.875rem] text-faint">Passkeys belong to a name: open this page under the server’s name with https, or as localhost.</p>
      )}
    </>
  )
}

export function Sessions() {
  const me = useMe()
  const { data, error, is_loading, renew } = useLoad('sessions', () => client.sessions())
  const { is_busy, attempt } = useAttempt()
  return (
    <>
      <Problem error={error} />
      {is_loading && <Spinner />}
      <ul className="m-0 list-none p-0">
        {data?.map((session) => (
          <Item
            key={session.id}
            title={<Named name={session.user_agent ? browserName(session.user_agent) : 'A browser'} is_here={session.current} />}
            detail={`${session.address ? `${visibleText(session.address)} · ` : ''}since ${formatMoment(session.created_at)} · last seen ${formatAgo(session.last_seen_at)}`}
          >
            {!session.current && (
              <button type="button" className="btn btn-quiet px-2 text-no" disabled={is_busy} onClick={({ detail }) => detail < 2 && attempt(() => client.revokeSession(session.id).then(renew), 'That browser is signed out.')}>
                Sign out<span className="sr-only"> of {visibleText(session.user_agent ? browserName(session.user_agent) : 'that browser')}</span>
              </button>
            )}
          </Item>
        ))}
      </ul>
      {data && data.length > 1 && (
        <button
          type="button"
          className="btn mt-2"
          disabled={is_busy}
          onClick={() => attempt(async () => { for (const session of data) if (!session.current) await client.revokeSession(session.id); renew() }, `${visibleText(me.name)} is signed in here only.`)}
        >
          Sign out everywhere else
        </button>
      )}
    </>
  )
}

export function PushSettings() {
  const me = useMe()
  const { data, error, is_loading, renew } = useLoad('push', client.pushSubscriptions)
  const key = useLoad('push key', client.pushKey, { fresh_ms: 60_000 })
  const { is_busy, attempt } = useAttempt()
  // Asking the browser takes its time, and is of no use where the server sends nothing.
  const is_denied = !!key.data && 'Notification' in window && Notification.permission === 'denied'
  return (
    <>
      <p className="m-0 mb-3 text-soft">A message when something waits for you, also while this page is closed. Low and medium risk can be decided in the message; the rest opens the request.</p>
      <Problem error={error ?? key.error} />
      {(is_loading || key.is_loading) && <Spinner />}
      <ul className="m-0 mb-3 list-none p-0">
        {data?.map((one) => (
          <Item key={one.id} title={<Named name={one.name} is_here={one.id === pushHere()} />} detail={`through ${visibleText(one.service)} · since ${formatMoment(one.created_at)}${one.last_sent_at ? ` · last told ${formatAgo(one.last_sent_at)}` : ''}`}>
            <button type="button" className="btn btn-quiet px-2 text-no" disabled={is_busy} onClick={({ detail }) => detail < 2 && attempt(() => stopPush(one.id).then(renew), 'No more messages there.')}>
              Remove<span className="sr-only"> {visibleText(one.name)}</span>
            </button>
          </Item>
        ))}
      </ul>
      {key.data === null ? (
        <p className="m-0 rounded-lg bg-medium-wash px-4 py-3 text-[0.875rem]">
          <b className="font-semibold">Notifications are switched off on this server.</b> No browser is told anything, whatever is listed here. Whoever runs the server switches them on with <code className="font-mono">--notify push</code>.
        </p>
      ) : !canPush() ? (
        <p className="m-0 text-[0.875rem] text-faint">This browser cannot receive messages for this page. On an iPhone, add the page to the Home Screen first.</p>
      ) : is_denied ? (
        <p className="m-0 text-[0.875rem] text-high">Notifications for this page are blocked in the browser’s settings.</p>
      ) : !key.data || data?.some((one) => one.id === pushHere()) ? null : (
        <button type="button" className="btn" disabled={is_busy} onClick={() => attempt(() => startPush(me.name).then(renew), 'This browser will be told.')}>
          {is_busy ? <Spinner /> : 'Tell me in this browser'}
        </button>
      )}
    </>
  )
}
