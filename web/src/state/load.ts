// Reading from the server for a component: shared by key, kept for a while, read again on demand. What the inbox shows
// does not pass here; it lives on the event stream.
import { startTransition, useCallback, useEffect, useLayoutEffect, useRef } from 'react'
import { useOutside } from './store'

type Entry = { data: unknown; error: unknown; at: number; running: boolean; tell: Set<() => void> }

const nothing: Entry = { data: undefined, error: undefined, at: 0, running: false, tell: new Set() }
const entries_max = 200
const entries = new Map<string, Entry>()

/** Forgets everything; the next person at this browser must not find it. */
export function forgetLoaded(): void {
  entries.clear()
}

function entryOf(key: string): Entry {
  let entry = entries.get(key)
  if (!entry) {
    if (entries.size >= entries_max) for (const [old, { tell }] of entries) if (tell.size === 0) entries.delete(old)
    entries.set(key, (entry = { ...nothing, tell: new Set() }))
  }
  return entry
}

function put(key: string, part: Partial<Entry>): void {
  const next = { ...entryOf(key), ...part }
  entries.set(key, next)
  // What was read is drawn when nothing more pressing is.
  startTransition(() => next.tell.forEach((listener) => listener()))
}

async function run(key: string, read: () => Promise<unknown>): Promise<void> {
  if (entryOf(key).running) return
  put(key, { running: true })
  try {
    put(key, { data: await read(), error: undefined, at: Date.now(), running: false })
  } catch (error) {
    put(key, { error, at: Date.now(), running: false })
  }
}

const saysTheSame = (a: Entry, b: Entry): boolean => a.data === b.data && a.error === b.error

export type Loaded<T> = { data: T | undefined; error: unknown; is_loading: boolean; renew: () => void }

type Options = {
  /** How long what was read stays good enough. Zero: read whenever a component asks for it. */
  fresh_ms?: number
  /** Read again this often while it is on the page. */
  every_ms?: number
}

/** Reads `key`; nothing while it is null. */
export function useLoad<T>(key: string | null, read: () => Promise<T>, { fresh_ms = 0, every_ms }: Options = {}): Loaded<T> {
  const latest = useRef(read)
  useLayoutEffect(() => void (latest.current = read))
  const subscribe = useCallback(
    (listener: () => void) => {
      if (key === null) return () => {}
      entryOf(key).tell.add(listener)
      return () => entries.get(key)?.tell.delete(listener)
    },
    [key],
  )
  const entry = useOutside(subscribe, () => (key === null ? nothing : (entries.get(key) ?? nothing)), saysTheSame)
  const renew = useCallback(() => {
    if (key !== null) void run(key, () => latest.current())
  }, [key])
  useEffect(() => {
    if (key === null) return
    if (Date.now() - entryOf(key).at >= fresh_ms) renew()
    if (every_ms === undefined) return
    const timer = setInterval(renew, every_ms)
    return () => clearInterval(timer)
  }, [key, fresh_ms, every_ms, renew])
  const is_loading = key !== null && entry.data === undefined && entry.error === undefined
  return { data: entry.data as T | undefined, error: entry.error, is_loading, renew }
}
