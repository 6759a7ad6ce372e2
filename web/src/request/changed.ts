// Somebody else may change what is on the screen. A press that was meant for the old content must not count for the new.
import { useLayoutEffect, useRef } from 'react'
import type { Guard } from '../model/guard'
import type { Request } from '../wire'

/** Arms `guard` anew whenever other content comes under a person's eyes. True when it came while they looked at this request. */
export function useChanged(request: Request | null | undefined, guard: Guard): boolean {
  const seen = useRef<{ id: string; digest: string } | null>(null)
  if (request && seen.current?.id !== request.id) seen.current = { id: request.id, digest: request.digest }
  // Before the browser paints, so before any press can mean what is painted.
  useLayoutEffect(() => guard.moved(performance.now()), [request?.id, request?.digest])
  return !!request && request.state === 'pending' && seen.current?.digest !== request.digest
}
