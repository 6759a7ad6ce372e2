// Somebody else may change what is on the screen. A press that was meant for the old content must not count for the new.
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { arming_ms, type Guard } from '../model/guard'
import type { Request } from '../wire'

/** Arms `guard` anew whenever other content comes under a person's eyes. True when it came while they looked at this request. */
export function useChanged(request: Request | null | undefined, guard: Guard): boolean {
  const seen = useRef<{ id: string; digest: string } | null>(null)
  // Before the browser paints, so before any press can mean what is painted.
  useLayoutEffect(() => {
    if (request && seen.current?.id !== request.id) seen.current = { id: request.id, digest: request.digest }
    guard.moved(performance.now())
  }, [request?.id, request?.digest])
  return !!request && request.state === 'pending' && seen.current?.id === request.id && seen.current.digest !== request.digest
}

/** True in the moment after something came up: the second half of a double click is not meant for what it finds there. */
export function useArming(what: boolean): boolean {
  const [armed, setArmed] = useState<boolean | null>(null)
  useEffect(() => {
    const timer = setTimeout(() => setArmed(what), arming_ms)
    return () => clearTimeout(timer)
  }, [what])
  return armed !== what
}
