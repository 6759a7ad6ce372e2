// The one file that speaks HTTP. Cookie callers prove with the CSRF token that a call comes from this page.
import { EndMissing, ServerError, Unreachable } from './errors'
import { SseReader } from './model/sse'
import { noteServerDate } from './model/time'
import type { Assertion, Backtest, DecisionCall, DecisionOfMany, DecisionResults, Event, Explanation, Grant, Grants, Json, JsonObject, Key, Link, Me, NewKey, Passkey, PasskeyCreateOptions, PasskeyGetOptions, PasskeyList, Policy, PolicyVersion, PolicyVersions, PushKey, PushSubscription, PushSubscriptionList, Request, RequestList, Role, Session, SessionEntry, SessionList, Stats, Suggestions, Timeline, User, Viewers } from './wire'

const csrf_header = 'X-Holdpoint-CSRF'
let csrf = ''
/** Whose token that is. */
let who = ''
let onSignedOut: () => void = () => {}

/** `then` is called when the server no longer knows the session. */
export function whenSignedOut(then: () => void): void {
  onSignedOut = then
}

let renew: () => Promise<unknown> = async () => undefined

/** `then` asks who is signed in, when a call was sent for a session that this browser has no more. */
export function whenOtherSession(then: typeof renew): void {
  renew = then
}

type Call = { method?: string; body?: unknown; headers?: Record<string, string>; signal?: AbortSignal | undefined; outlives_page?: boolean }

async function send<T>(path: string, { method = 'GET', body, headers = {}, signal, outlives_page = false }: Call = {}): Promise<T> {
  const init: RequestInit = { method, headers: { ...headers }, signal: signal ?? null, credentials: 'same-origin', keepalive: outlives_page }
  const all = init.headers as Record<string, string>
  if (method !== 'GET') all[csrf_header] = csrf
  if (body !== undefined) {
    all['Content-Type'] = 'application/json'
    init.body = JSON.stringify(body)
  }
  const by = who
  let answer: Response
  let data: unknown
  try {
    answer = await fetch(path, init)
    noteServerDate(answer.headers.get('date'))
    data = await answer.json()
  } catch (error) {
    if (signal?.aborted) throw error
    throw new Unreachable()
  }
  if (answer.ok) return data as T
  const failure = (data as { error?: ConstructorParameters<typeof ServerError>[1] }).error
  if (!failure) throw new Unreachable()
  if (failure.field === csrf_header) {
    // Nothing was done. The same person may only have signed in anew; what one began is not sent as another.
    await renew()
    if (who !== by) throw new ServerError(answer.status, { ...failure, field: '', message: `this was begun as ${by}` })
    if (csrf !== all[csrf_header]) return send(path, { method, body, headers, signal, outlives_page })
  }
  if (answer.status === 401 && path !== '/v1/session') onSignedOut()
  const retry = Number(answer.headers.get('retry-after'))
  throw new ServerError(answer.status, failure, retry > 0 ? retry : null)
}

const post = <T>(path: string, body?: unknown, headers?: Record<string, string>): Promise<T> =>
  send<T>(path, { method: 'POST', body, ...(headers ? { headers } : {}) })

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Repeats a call whose fate is unknown. Safe because its idempotency key makes the second one a look at the first. */
async function insist<T>(attempt: () => Promise<T>): Promise<T> {
  const by = who
  for (let pause_ms = 400; ; pause_ms *= 2) {
    try {
      return await attempt()
    } catch (error) {
      const may_pass = error instanceof Unreachable || (error instanceof ServerError && error.status === 503)
      if (!may_pass || pause_ms > 3200) throw error
      await wait(pause_ms)
      if (who !== by) throw error
    }
  }
}

const keep = (session: Session): Session => {
  csrf = session.csrf
  who = session.name
  return session
}

export type ListQuery = Partial<Record<'state' | 'outcome' | 'risk' | 'kind' | 'agent' | 'tool' | 'user' | 'session' | 'thread' | 'since' | 'until' | 'cursor' | 'limit', string>>

/** How long the next of the past events, or the word that there is none, may take. Rare ones are looked for among millions. */
const silence_ms = 60_000

/**
 * Past events after `after`, oldest first, up to `until`. The stream has no end: its first beat says that all of them are here. If
 * that does not come this fails, because what looks like all might not be.
 */
async function pastEvents(query: ListQuery, after: number, until: number, take: (event: Event) => void, signal: AbortSignal): Promise<void> {
  const own = new AbortController()
  const stop = () => own.abort()
  signal.addEventListener('abort', stop)
  let timer = setTimeout(stop, silence_ms)
  try {
    const answer = await fetch(`/v1/events?${new URLSearchParams({ ...query, last_event_id: String(after) })}`, { signal: own.signal, credentials: 'same-origin' })
    if (!answer.ok || !answer.body) {
      const failure = ((await answer.json()) as { error?: ConstructorParameters<typeof ServerError>[1] }).error
      throw failure ? new ServerError(answer.status, failure) : new Unreachable()
    }
    const pieces = answer.body.pipeThrough(new TextDecoderStream()).getReader()
    const reader = new SseReader()
    for (;;) {
      const { done, value } = await pieces.read()
      if (done) throw new EndMissing()
      for (const { name, data } of reader.push(value)) {
        if (name === 'beat') return
        const event = JSON.parse(data) as Partial<Event>
        if (event.seq === undefined) continue
        if (event.seq > until) return
        take(event as Event)
        clearTimeout(timer)
        timer = setTimeout(stop, silence_ms)
      }
    }
  } catch (error) {
    if (signal.aborted || error instanceof ServerError || error instanceof EndMissing) throw error
    throw own.signal.aborted ? new EndMissing() : new Unreachable()
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    own.abort()
  }
}

/** A policy that extends another one is read together with it, divided by a character that no policy has. */
const withAbove = <P extends { text?: string | null; above?: string[] }>(policy: P): P => (policy.text ? { ...policy, text: [policy.text, ...(policy.above ?? [])].join('\0') } : policy)

export const client = {
  session: () => send<Session>('/v1/session').then(keep),
  signIn: (body: { name: string; password: string } | { link: string } | { passkey: Assertion }) => post<Session>('/v1/session', body).then(keep),
  signOut: () => send<Record<string, never>>('/v1/session', { method: 'DELETE' }),
  me: () => send<Me>('/v1/me'),
  signInOptions: () => post<PasskeyGetOptions>('/v1/session/options'),
  sessions: (user?: string) => send<SessionList>(`/v1/sessions${user === undefined ? '' : `?${new URLSearchParams({ user })}`}`).then((answer) => answer.sessions),
  revokeSession: (id: string) => post<SessionEntry>(`/v1/sessions/${encodeURIComponent(id)}/revoke`),
  passkeys: () => send<PasskeyList>('/v1/passkeys').then((answer) => answer.passkeys),
  passkeyOptions: () => post<PasskeyCreateOptions>('/v1/passkeys/options'),
  addPasskey: (name: string, credential: unknown) => post<Passkey>('/v1/passkeys', { name, credential }),
  renamePasskey: (id: string, name: string) => send<Passkey>(`/v1/passkeys/${encodeURIComponent(id)}`, { method: 'PUT', body: { name } }),
  removePasskey: (id: string) => send<Record<string, never>>(`/v1/passkeys/${encodeURIComponent(id)}`, { method: 'DELETE' }),
  /** Null where the server sends no messages. */
  pushKey: (): Promise<string | null> =>
    send<Partial<PushKey>>('/v1/push/key').then(
      (answer) => answer.key ?? null,
      (error: unknown) => {
        if (error instanceof ServerError && error.status === 422) return null
        throw error
      },
    ),
  pushSubscriptions: () => send<PushSubscriptionList>('/v1/push/subscriptions').then((answer) => answer.subscriptions),
  addPushSubscription: (name: string, subscription: unknown) => post<PushSubscription>('/v1/push/subscriptions', { name, subscription }),
  removePushSubscription: (id: string) => send<Record<string, never>>(`/v1/push/subscriptions/${encodeURIComponent(id)}`, { method: 'DELETE' }),

  list: (query: ListQuery, signal?: AbortSignal) => send<RequestList>(`/v1/requests?${new URLSearchParams(query)}`, { signal }),
  request: (id: string) => send<Request>(`/v1/requests/${encodeURIComponent(id)}`),
  timeline: (id: string) => send<Timeline>(`/v1/requests/${encodeURIComponent(id)}/events`),
  pastEvents,
  decide: (id: string, call: DecisionCall) => {
    const key = crypto.randomUUID()
    return insist(() => post<Request>(`/v1/requests/${encodeURIComponent(id)}/decision`, call, { 'Idempotency-Key': key }))
  },
  /** Each is judged alone: one that counted already is answered with how it stands. */
  decideMany: (decisions: DecisionOfMany[]) => insist(() => post<DecisionResults>('/v1/decisions', { decisions })),
  undo: (id: string) => post<Request>(`/v1/requests/${encodeURIComponent(id)}/undo`),
  challenge: (id: string, call: DecisionCall) => post<PasskeyGetOptions>(`/v1/requests/${encodeURIComponent(id)}/challenge`, call),
  presence: (id: string, looking: boolean) => send<Viewers>(`/v1/requests/${encodeURIComponent(id)}/presence`, { method: 'POST', body: { looking }, outlives_page: !looking }),
  snooze: (id: string, until: string | null) => post<Request>(`/v1/requests/${encodeURIComponent(id)}/snooze`, { until }),
  extend: (id: string, seconds: number) => post<Request>(`/v1/requests/${encodeURIComponent(id)}/extend`, { seconds }),

  grants: (query: Partial<Record<'state' | 'agent' | 'tool' | 'limit', string>> = {}) => send<Grants>(`/v1/grants?${new URLSearchParams(query)}`).then((answer) => answer.grants),
  grant: (id: string) => send<Grant>(`/v1/grants/${encodeURIComponent(id)}`),
  revokeGrant: (id: string) => post<Grant>(`/v1/grants/${encodeURIComponent(id)}/revoke`),

  policy: () => send<Policy>('/v1/policy').then(withAbove),
  policyVersions: () => send<PolicyVersions>('/v1/policy/versions').then((answer) => answer.versions),
  policyVersion: (version: string) => send<PolicyVersion>(`/v1/policy/versions/${encodeURIComponent(version)}`).then(withAbove),
  putPolicy: (text: string, acknowledge: string[]) => send<Policy>('/v1/policy', { method: 'PUT', body: { text, ...(acknowledge.length ? { acknowledge } : {}) } }),
  reloadPolicy: () => post<Policy>('/v1/policy/reload'),
  explain: (call: JsonObject, text?: string) => post<Explanation>('/v1/policy/explain', { call, ...(text === undefined ? {} : { text }) }),
  backtest: (text: string | null, since_s: number | null) => post<Backtest>('/v1/policy/backtest', { ...(text === null ? {} : { text }), ...(since_s === null ? {} : { since_s }) }),
  suggest: (since_s: number | null) => post<Suggestions>('/v1/policy/suggest', since_s === null ? {} : { since_s }),

  stats: () => send<Stats>('/v1/stats'),
  users: () => send<{ users: User[] }>('/v1/users').then((answer) => answer.users),
  createUser: (body: { name: string; role: Role; groups: string[] }) => post<User>('/v1/users', body),
  setEnabled: (name: string, is_enabled: boolean) =>
    post<User>(`/v1/users/${encodeURIComponent(name)}/${is_enabled ? 'enable' : 'disable'}`),
  setGroups: (name: string, groups: string[]) => post<User>(`/v1/users/${encodeURIComponent(name)}/groups`, { groups }),
  setPassword: (name: string, body: { password: string; current?: string }) =>
    post<User>(`/v1/users/${encodeURIComponent(name)}/password`, body),
  createLink: (name: string) => post<Link>('/v1/links', { name }),
  keys: () => send<{ keys: Key[] }>('/v1/keys').then((answer) => answer.keys),
  createKey: (body: { role: Role; name: string; owner?: string; expires_in_s?: number }) => post<NewKey>('/v1/keys', body),
  revokeKey: (id: string) => post<Key>(`/v1/keys/${encodeURIComponent(id)}/revoke`),
}

export type { Json }
