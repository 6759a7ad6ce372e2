// Signing in: by the one-time link an admin made, or with name and password. Opening the link uses nothing up; pressing
// the button does. Where somebody is signed in already, a link asks first: whoever opened it would else decide in that name.
import { useEffect, useState, type FormEvent, type ReactNode } from 'react'
import { sentence, ServerError } from '../errors'
import { visibleText } from '../model/marked_text'
import { dropInbox } from '../state/inbox'
import { forgetLink, useLink } from '../state/link'
import { findSession, signIn, useSession } from '../state/session'
import { canUsePasskeys, passkeyProblem, signInAssertion } from '../state/passkeys'
import { Mark } from '../ui/icons'
import { Spinner } from '../ui/parts'

function Frame({ children }: { children: ReactNode }) {
  return (
    <main id="main" className="grid min-h-full place-items-center px-5 py-10">
      <div className="w-full max-w-sm">
        <p className="m-0 mb-8 flex items-center gap-3 text-accent">
          <Mark size={34} />
          <span className="text-[1.375rem] font-semibold tracking-tight text-ink">Holdpoint</span>
        </p>
        {children}
      </div>
    </main>
  )
}

/** Without a connection the page comes up all the same, and asks again by itself. */
function Again() {
  useEffect(() => {
    const ask = () => void findSession()
    const timer = setInterval(ask, 5000)
    window.addEventListener('online', ask)
    return () => {
      clearInterval(timer)
      window.removeEventListener('online', ask)
    }
  }, [])
  return null
}

function leaveSignIn(): void {
  if (location.pathname === '/sign-in') history.replaceState(null, '', '/')
}

export default function SignInScreen() {
  const status = useSession((session) => session.status)
  const was_ended = useSession((session) => session.status === 'signed_out' && session.was_ended)
  const link = useLink((state) => state.token)
  const me = useSession((session) => session.me)
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [error, setError] = useState<string | null>(null)
  const [is_busy, setBusy] = useState(false)

  const enter = async (body: Parameters<typeof signIn>[0]) => {
    setBusy(true)
    setError(null)
    try {
      leaveSignIn()
      await signIn(body)
      // What was begun for somebody else ends with the question.
      if (me) dropInbox()
      forgetLink()
    } catch (caught) {
      setError(sentence(caught))
      // Without an answer it was not used up, as far as anybody knows.
      if (caught instanceof ServerError && caught.status < 500 && !me) forgetLink()
    } finally {
      setBusy(false)
    }
  }
  const enterWithPasskey = async () => {
    setError(null)
    try {
      await enter({ passkey: await signInAssertion() })
    } catch (caught) {
      setError(passkeyProblem(caught) ?? sentence(caught))
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void enter({ name: name.trim(), password })
  }

  if (status === 'unreachable')
    return (
      <Frame>
        <Again />
        <h1 className="text-lg">The server does not answer</h1>
        <p className="mb-4 mt-1 text-soft">Nothing is lost: what waits keeps waiting. Nothing can be decided until it is back, because what this browser remembers may be old.</p>
        <button type="button" className="btn" onClick={() => void findSession()}>
          Try again
        </button>
      </Frame>
    )
  if (link)
    return (
      <Frame>
        <h1 className="text-lg">{me ? `You are signed in as ${visibleText(me.name)}. Sign in with this link instead?` : 'Sign in with this link'}</h1>
        <p className="mb-5 mt-1 text-soft">It works once. Afterwards this browser stays signed in until you sign out or its session ends.</p>
        {error && (
          <p role="alert" className="mb-4 mt-0 text-no">
            {error}
          </p>
        )}
        <button type="button" className="btn btn-yes min-h-11 w-full" disabled={is_busy} onClick={() => void enter({ link })}>
          {is_busy ? <Spinner /> : me ? 'Sign in with this link' : 'Sign in'}
        </button>
        {me && (
          <button
            type="button"
            className="btn mt-3 min-h-11 w-full"
            disabled={is_busy}
            onClick={() => {
              leaveSignIn()
              forgetLink()
            }}
          >
            Go on as <span className="max-w-48 truncate">{visibleText(me.name)}</span>
          </button>
        )}
      </Frame>
    )
  return (
    <Frame>
      <h1 className="text-lg">Sign in</h1>
      {was_ended && <p className="mt-1 text-soft">Your session has ended. What waits is still there.</p>}
      <form className="mt-4 grid gap-3.5" onSubmit={submit}>
        <div>
          <label htmlFor="name" className="label mb-1 block">
            Name
          </label>
          <input id="name" className="field min-h-11" autoComplete="username" autoCapitalize="none" required value={name} onChange={(event) => setName(event.target.value)} />
        </div>
        <div>
          <label htmlFor="password" className="label mb-1 block">
            Password
          </label>
          <input id="password" className="field min-h-11" type="password" autoComplete="current-password" required value={password} onChange={(event) => setPassword(event.target.value)} />
        </div>
        {error && (
          <p role="alert" className="m-0 text-no">
            {error}
          </p>
        )}
        <button type="submit" className="btn btn-yes mt-1 min-h-11" disabled={is_busy}>
          {is_busy ? <Spinner /> : 'Sign in'}
        </button>
      </form>
      {canUsePasskeys() && (
        <button type="button" className="btn mt-3 min-h-11 w-full" disabled={is_busy} onClick={() => void enterWithPasskey()}>
          Sign in with a passkey
        </button>
      )}
      <p className="mt-6 text-[0.875rem] text-faint">
        No password? An admin makes a one-time link for you, under People or with <code className="font-mono">holdpoint user link</code>.
      </p>
    </Frame>
  )
}
