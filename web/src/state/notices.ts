// Short messages about what happened. Each is announced to screen readers; those that tell of a failure stay.
import { create } from './store'

/** What an action is about, if it ends with that: ids of requests. */
type Action = { label: string; run: () => void; about?: string[] }

export type Notice = { id: number; tone: 'plain' | 'good' | 'bad'; text: string; request?: string; link?: { href: string; label: string }; action?: Action; for_ms: number; stays: boolean }

type Notices = { notices: Notice[] }

let last = 0
export const useNotices = create<Notices>(() => ({ notices: [] }))

export function dismiss(id: number): void {
  useNotices.setState(({ notices }) => ({ notices: notices.filter((notice) => notice.id !== id) }))
}

export function tell(text: string, more: Partial<Omit<Notice, 'id' | 'text'>> = {}): void {
  const notice: Notice = { id: ++last, tone: 'plain', stays: more.tone === 'bad', for_ms: more.action ? 8000 : 4000, text, ...more }
  // A new success replaces the last one; failures stay until they are read, and what can be taken back as long as it can.
  useNotices.setState(({ notices }) => {
    const failures = notices.filter((old) => old.stays).slice(-5)
    const others = notices.filter((old) => !old.stays && (old.action || notice.stays)).slice(-3)
    return { notices: [...notices.filter((old) => failures.includes(old) || others.includes(old)), notice] }
  })
  if (!notice.stays) setTimeout(() => dismiss(notice.id), notice.for_ms)
}
