// Who is signed in.
import { client, whenOtherSession, whenSignedOut } from '../client'
import { sentence, ServerError } from '../errors'
import type { Me } from '../wire'
import { forgetLoaded } from './load'
import { tell, useNotices } from './notices'
import { forgetPush } from './push_here'
import { create } from './store'

type SessionState =
  | { status: 'asking'; me: null }
  | { status: 'unreachable'; me: null }
  | { status: 'signed_out'; me: null; was_ended: boolean }
  | { status: 'signed_in'; me: Me; undo_max_s: number }

export const useSession = create<SessionState>(() => ({ status: 'asking', me: null }))

// Pages are drawn in slices: one that was begun while somebody was signed in may be finished after they are out. It is never shown,
// and is still theirs.
let latest: Me | null = null
useSession.subscribe(({ me }) => (latest = me ?? latest))

function put(state: SessionState): void {
  // What was told was told to whoever was here before.
  if (latest && state.me && state.me.id !== latest.id) useNotices.setState({ notices: [] })
  if (state.status === 'signed_out') forgetLoaded()
  if (state.status === 'signed_out' || state.status === 'signed_in') remember(state.me)
  useSession.setState(state, true)
}

// The cookie cannot be seen from here. Whoever never signed in with this browser need not ask, and gets no error for it.
const place = 'holdpoint.signed_in'

function remember(me: Me | null): void {
  try {
    if (me) localStorage.setItem(place, me.id)
    else localStorage.removeItem(place)
  } catch {
    // Without storage the page asks each time.
  }
}

export function mayBeSignedIn(): boolean {
  try {
    return localStorage.getItem(place) !== null
  } catch {
    return true
  }
}

/** Asks the server who this is. */
export async function findSession(): Promise<void> {
  if (!mayBeSignedIn()) return put({ status: 'signed_out', me: null, was_ended: false })
  try {
    const [{ undo_max_s }, me] = await Promise.all([client.session(), client.me()])
    put({ status: 'signed_in', me, undo_max_s })
  } catch (error) {
    if (error instanceof ServerError && error.status < 500 && error.status !== 429) put({ status: 'signed_out', me: null, was_ended: false })
    else put({ status: 'unreachable', me: null })
  }
}

/** Asks again: a server that was started anew may have other limits, and another tab may have signed in somebody else. Never fails. */
export async function renewSession(): Promise<void> {
  try {
    if (!useSession.getState().me) return
    const [{ undo_max_s }, me] = await Promise.all([client.session(), client.me()])
    const before = useSession.getState().me
    if (!before) return
    const is_other = me.id !== before.id
    if (is_other) forgetLoaded()
    put({ status: 'signed_in', me, undo_max_s })
    if (is_other) tell(`${me.name} is signed in now, in this browser.`, { stays: true })
  } catch {
    // What was known stands; a session that is over is told by whoever finds out.
  }
}

export async function signIn(body: Parameters<typeof client.signIn>[0]): Promise<void> {
  const { undo_max_s } = await client.signIn(body)
  const me = await client.me()
  // What was read so far was read for whoever was here before.
  forgetLoaded()
  put({ status: 'signed_in', me, undo_max_s })
  // If it cannot be read, the settings show that this browser is not told, and offer it.
  void import('./push').then(({ renewPush }) => renewPush(me.name), () => undefined)
}

/** Never fails: what went wrong is told. */
export async function signOut(): Promise<void> {
  try {
    await client.signOut()
  } catch (error) {
    // Whoever leaves a shared computer must not believe that the session is over while its cookie still opens it.
    if (!(error instanceof ServerError && error.status === 401)) return tell(`${sentence(error)} You may still be signed in.`, { tone: 'bad' })
  }
  forgetPush()
  put({ status: 'signed_out', me: null, was_ended: false })
}

whenSignedOut(() => {
  if (useSession.getState().status === 'signed_in') put({ status: 'signed_out', me: null, was_ended: true })
})

whenOtherSession(renewSession)
// Another tab signed somebody in or out.
globalThis.addEventListener?.('storage', ({ key }) => key === place && void renewSession())

/** The person on whose page this runs; only below the sign-in. */
export function useMe(): Me {
  const me = useSession((state) => state.me ?? latest)
  if (!me) throw new Error('nobody is signed in')
  return me
}
