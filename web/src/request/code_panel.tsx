// Critical risk: what is released takes the code of exactly this content, or a passkey. Fetched when nothing else goes on.
import { useEffect, useId, useRef, useState } from 'react'
import { client } from '../client'
import { sentence } from '../errors'
import type { Press } from '../model/guard'
import { useLoad } from '../state/load'
import { canUsePasskeys, passkeyProblem } from '../state/passkeys'
import { Consequences, Foot, Panel, type ConfirmProps } from './composers'

/** The code of exactly this content must be typed. */
export default function CodePanel({ request, code, what, about, can_send, onConfirm, onPasskey, onClose }: ConfirmProps & { code: string; onPasskey: (signal: AbortSignal, press: Press) => Promise<void> }) {
  const { data: passkeys } = useLoad(canUsePasskeys() ? 'passkeys' : null, client.passkeys, { fresh_ms: 60_000 })
  const [problem, setProblem] = useState<string | null>(null)
  // Whoever leaves has not confirmed, whatever the device is asked meanwhile.
  const leaving = useRef<AbortController>(null)
  useEffect(() => {
    const controller = (leaving.current = new AbortController())
    return () => controller.abort()
  }, [])
  const confirmWithPasskey = async (press: Press) => {
    const { signal } = leaving.current!
    setProblem(null)
    try {
      await onPasskey(signal, press)
    } catch (error) {
      if (!signal.aborted) setProblem(passkeyProblem(error) ?? sentence(error))
    }
  }
  const [typed, setTyped] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  useEffect(() => field.current?.focus(), [])
  const is_right = can_send && typed.trim() === code
  return (
    <Panel title="Critical: confirm what you release" onClose={onClose}>
      <Consequences request={request} about={about} />
      {problem && (
        <p role="alert" className="m-0 mb-2 text-no">
          {problem}
        </p>
      )}
      <Foot onClose={onClose}>
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
        <button type="button" className="btn btn-yes min-h-11 max-w-full py-1 md:min-h-9" disabled={!is_right} onClick={onConfirm}>
          <span className="foreign">{what}</span>
        </button>
        {passkeys && passkeys.length > 0 && (
          <button type="button" className="btn min-h-11 md:min-h-9" disabled={!can_send} onClick={(press) => void confirmWithPasskey(press)}>
            Confirm with a passkey
          </button>
        )}
      </Foot>
    </Panel>
  )
}
