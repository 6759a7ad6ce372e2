// What waits, as the server last said, and what this page is doing about it.
import { startTransition } from 'react'
import { client } from '../client'
import { risks } from '../model/words'
import type { DecisionKind, Event, Request, RiskLevel } from '../wire'
import { isPhone } from './phone'
import { notePresence } from './presence'
import { renewSession } from './session'
import { Stream, type StreamState } from './stream'
import { create } from './store'

export type Inbox = {
  /** Pending requests, and those that were settled while somebody looked at them. */
  requests: Map<string, Request>
  /** Decisions on their way: shown as such until the server has answered. */
  deciding: Map<string, DecisionKind>
  connection: StreamState
  is_complete: boolean
  has_loaded: boolean
  /** How many wait by the server's count, while they are still being read. */
  expected: number | null
  selected: string | null
  /** How often `lookAt` was called. */
  looks: number
  marked: ReadonlySet<string>
  /** Requests that came in and have not been in view yet. */
  arrived: ReadonlySet<string>
}

const fresh: Inbox = {
  requests: new Map(), deciding: new Map(), connection: 'connecting', is_complete: false, has_loaded: false, expected: null,
  selected: null, looks: 0, marked: new Set(), arrived: new Set(),
}

export const useInbox = create<Inbox>(() => fresh)

const get = useInbox.getState
const set = useInbox.setState

const counts = new WeakMap<ReadonlyMap<string, Request>, number>()

/** How many of them wait; counted once for each state of the inbox. */
export function countWaiting(requests: ReadonlyMap<string, Request>): number {
  let count = counts.get(requests)
  if (count === undefined) {
    count = 0
    for (const request of requests.values()) if (request.state === 'pending') ++count
    counts.set(requests, count)
  }
  return count
}

// A page of the list may be older than an event that overtook it: what was settled never waits again.
const settled = new Set<string>()

/** Settled ones stay only while they are looked at: nothing vanishes under a person's eyes. */
function put(map: Map<string, Request>, request: Request, selected: string | null): void {
  if (request.state === 'settled') settled.add(request.id)
  else if (settled.has(request.id)) return
  if (request.state === 'pending' || request.id === selected) map.set(request.id, request)
  else map.delete(request.id)
}

let waiting: Request[] = []
let arrivals: string[] = []
let answered: string[] = []
let frame = 0
let slow_frame = 0

function without<K, V>(map: ReadonlyMap<K, V>, keys: K[]): Map<K, V> {
  const rest = new Map(map)
  for (const key of keys) rest.delete(key)
  return rest
}

/** What stands once everything that came in is taken. */
function flushed(): Pick<Inbox, 'requests' | 'deciding' | 'marked' | 'arrived'> {
  const { requests, deciding, selected, marked, arrived } = get()
  const next = new Map(requests)
  for (const request of waiting) put(next, request, selected)
  const still = [...marked].filter((id) => next.get(id)?.state === 'pending')
  const result = {
    requests: next,
    deciding: answered.length ? without(deciding, answered) : deciding,
    marked: still.length === marked.size ? marked : new Set(still),
    arrived: arrivals.length ? new Set([...arrived, ...arrivals]) : arrived,
  }
  waiting = []
  arrivals = []
  answered = []
  return result
}

function flush(): void {
  clearTimeout(slow_frame)
  frame = slow_frame = 0
  // A long list is drawn in slices, between which the page answers.
  if (waiting.length || answered.length) startTransition(() => set(flushed()))
}

const listeners = new Set<(request: Request) => void>()

/** Hears of every request that the server says something about, also of those that do not wait. */
export function hear(listener: (request: Request) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

// While page after page of a long list is read, it is drawn anew only so often.
const reading_ms = 300
let is_reading = false

/** Takes what the server says about requests; many within one frame are one change. */
export function accept(...requests: Request[]): void {
  waiting.push(...requests)
  if (listeners.size) for (const request of requests) listeners.forEach((tell) => tell(request))
  flushSoon()
}

function flushSoon(): void {
  // A hidden tab gets no frames.
  if (is_reading) slow_frame ||= window.setTimeout(flush, reading_ms)
  else frame ||= document.hidden ? window.setTimeout(flush, 50) : requestAnimationFrame(flush)
}

// What the stream told of each request, counted: the answer to a call that was under way meanwhile is older than that.
let told = 0
const told_of = new Map<string, number>()

/** How much the stream has told; taken before a call and given to `acceptAnswer` after it. */
export const toldSoFar = (): number => told

/** Takes what the answer to a call says about requests, but of those the stream told of since then its word stands. */
export function acceptAnswer(since: number, ...requests: Request[]): void {
  accept(...requests.filter((request) => (told_of.get(request.id) ?? 0) <= since))
}

/**
 * Takes the answer to decisions: how the requests stand, if it says so. They are on their way until that is drawn, and not a moment
 * less: in between they would look as if nobody had decided.
 */
export function acceptDecided(ids: string[], since: number, ...requests: Request[]): void {
  answered.push(...ids)
  acceptAnswer(since, ...requests)
  flushSoon()
}

let loading: AbortController | null = null

/** Reads one page of what waits; answers where the next one begins. */
async function readPage(query: Record<string, string>, signal: AbortSignal, seen: Set<string>): Promise<string | null> {
  const since = toldSoFar()
  const page = await client.list({ state: 'pending', ...query, limit: '100' }, signal)
  for (const request of page.requests) seen.add(request.id)
  if (page.next_cursor) is_reading = true
  acceptAnswer(since, ...page.requests)
  return page.next_cursor
}

async function readAll(risk: RiskLevel, signal: AbortSignal, seen: Set<string>): Promise<void> {
  let cursor: string | null = null
  do cursor = await readPage({ risk, ...(cursor ? { cursor } : {}) }, signal, seen)
  while (cursor)
}

/** Reads everything that waits, the riskiest first. Events that come meanwhile are newer and win. */
async function reload(): Promise<void> {
  loading?.abort()
  const mine = (loading = new AbortController())
  set({ is_complete: false })
  const seen = new Set<string>()
  const before = new Set(get().requests.keys())
  try {
    // Most inboxes fit on one page, or two, and are drawn once; of more than that the riskiest are read first.
    is_reading = false
    let rest = await readPage({}, mine.signal, seen)
    if (rest) rest = await readPage({ cursor: rest }, mine.signal, seen)
    if (rest) {
      const count = client.stats().then((stats) => mine === loading && set({ expected: stats.pending }))
      await Promise.all([count, ...risks.map((risk) => readAll(risk, mine.signal, seen))])
    }
  } catch {
    if (mine === loading) is_reading = false
    // The stream's own trouble is already on the screen; it reads again when it is back.
    if (!mine.signal.aborted) setTimeout(() => mine === loading && started && void reload(), 2000)
    return
  }
  is_reading = false
  // What was here before and is not listed any more was settled while nobody listened.
  const { selected } = get()
  const next = flushed()
  const gone = [...before].filter((id) => !seen.has(id) && next.requests.get(id)?.state === 'pending')
  for (const id of gone) if (id !== selected) next.requests.delete(id)
  if (selected && gone.includes(selected)) {
    set(next)
    await refresh(selected).catch(() => undefined)
    set({ is_complete: true, has_loaded: true, expected: null })
  } else {
    // All at once: the list is drawn whole, and once.
    startTransition(() => set({ ...next, is_complete: true, has_loaded: true, expected: null }))
  }
}

/** Reads one request again. */
export async function refresh(id: string): Promise<Request> {
  const since = toldSoFar()
  const request = await client.request(id)
  acceptAnswer(since, request)
  return request
}

function onEvent(event: Event): void {
  told_of.set(event.request.id, ++told)
  if (event.type === 'approval-required') arrivals.push(event.request.id)
  // Events are the same for everybody; what this person put off is known from the list.
  const put_off = get().requests.get(event.request.id)?.snoozed_until
  accept(put_off ? { ...event.request, snoozed_until: put_off } : event.request)
}

function onState(connection: StreamState): void {
  const was_lost = get().connection === 'lost'
  set({ connection })
  if (was_lost && connection === 'live') void renewSession()
  // A stream does not say why it ended. If the session is over, this call finds out.
  if (connection === 'lost') void client.me().catch(() => undefined)
}

let started: Stream | null = null

/** Where the list is not on the page, what is there has the network and the processor first. */
const unseen_after_ms = 1500
let read_at = 0
let reading_later: ReturnType<typeof setTimeout> | undefined

function readWhenDue(): void {
  clearTimeout(reading_later)
  reading_later = undefined
  const wait = read_at - performance.now()
  if (wait <= 0) void reload()
  else reading_later = setTimeout(readWhenDue, wait)
}

/** The list is on the page: it is read now, if that was left for later. */
export function wantInbox(): void {
  read_at = 0
  if (reading_later !== undefined) readWhenDue()
}

function startInbox(): () => void {
  // The cursor stays: the address may have set it before anything was read.
  set({ ...fresh, selected: get().selected })
  settled.clear()
  told_of.clear()
  started = new Stream({ onEvent, onPresence: notePresence, onState, onGap: readWhenDue })
  // Whoever follows another tab's stream hears of no gap; what waits must be read all the same.
  const timer = setTimeout(() => !loading && readWhenDue(), 300)
  return () => {
    clearTimeout(timer)
    clearTimeout(reading_later)
    reading_later = undefined
    is_reading = false
    loading?.abort()
    loading = null
    started?.close()
    started = null
  }
}

// Begun before the server has said who this is: the list is then here when the page is.
let early: (() => void) | null = null

/** Reads and listens for a person who is probably signed in, with the cursor on the request of the address. */
export function beginInbox(path: string): void {
  const [, place, id] = path.split('/')
  if (place === 'r' && id) select(id)
  if (place !== '' && (place !== 'r' || isPhone())) read_at = performance.now() + unseen_after_ms
  early = startInbox()
}

/** Nobody was. */
export function dropInbox(): void {
  early?.()
  early = null
}

/** Reads and listens while the page of a person is there; goes on with what was begun. */
export function followInbox(): () => void {
  const end = early ?? startInbox()
  early = null
  return end
}

/** Moves the cursor. A settled request that was kept for reading goes when it is left. */
export function select(id: string | null): void {
  const { selected, requests } = get()
  if (id === selected) return
  const left = selected ? requests.get(selected) : undefined
  if (selected && left?.state === 'settled') {
    const next = new Map(requests)
    next.delete(selected)
    set({ selected: id, requests: next })
  } else {
    set({ selected: id })
  }
}

/** Somebody wants to see this one, whatever else is open: the cursor may stand on it already. */
export function lookAt(id: string): void {
  select(id)
  set({ looks: get().looks + 1 })
}

export function toggleMark(id: string): void {
  const marked = new Set(get().marked)
  if (!marked.delete(id)) marked.add(id)
  set({ marked })
}

/** Those that were decided; the rest of a long selection stays selected. */
export const unmark = (ids: string[]): void => set({ marked: new Set([...get().marked].filter((id) => !ids.includes(id))) })

export const clearMarks = (): void => set({ marked: new Set() })

/** These have been in view. */
export function noteSeen(ids: string[]): void {
  const { arrived } = get()
  const unseen = [...arrived].filter((id) => !ids.includes(id))
  if (unseen.length !== arrived.size) set({ arrived: new Set(unseen) })
}

export const forgetArrivals = (): void => set({ arrived: new Set() })

/** These decisions are on their way, until `acceptDecided`. */
export function setDeciding(kinds: Iterable<[id: string, kind: DecisionKind]>): void {
  set({ deciding: new Map([...get().deciding, ...kinds]) })
}
