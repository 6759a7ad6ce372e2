// What somebody typed about a request and has not sent, or sent in vain: it is there again when they come back. It belongs to the
// content it was typed about: whoever sees another one begins anew. Kept by this page alone, and never longer than somebody is signed in.
import { useCallback, useState } from 'react'
import type { Request } from '../wire'
import { useSession } from './session'

type Of = Pick<Request, 'id' | 'digest'>

const drafts_max = 200
const drafts = new Map<string, unknown>()
// This file may be fetched after somebody signed in.
let owner = useSession.getState().me?.id
useSession.subscribe(({ status, me }) => {
  // Somebody else may sign in over them. A server that does not answer takes nothing from anybody.
  if (status === 'signed_out' || (me && me.id !== owner)) drafts.clear()
  owner = me?.id ?? owner
})

const keyOf = ({ id, digest }: Of, what: string): string => `${id} ${digest} ${what}`

export const readDraft = <T>(request: Of, what: string, otherwise: T): T => (drafts.get(keyOf(request, what)) as T | undefined) ?? otherwise

export function keepDraft(request: Of, what: string, value: unknown): void {
  const key = keyOf(request, what)
  drafts.delete(key)
  drafts.set(key, value)
  const [oldest] = drafts.keys()
  if (drafts.size > drafts_max && oldest !== undefined) drafts.delete(oldest)
}

/** A state that survives the panel in which it is typed. */
export function useDraft<T>(request: Of, what: string, initial: T): [T, (value: T) => void] {
  const [value, put] = useState(() => readDraft(request, what, initial))
  const { id, digest } = request
  const set = useCallback(
    (next: T) => {
      keepDraft({ id, digest }, what, next)
      put(next)
    },
    [id, digest, what],
  )
  return [value, set]
}
