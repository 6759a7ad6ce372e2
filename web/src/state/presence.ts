// Who else looks at a request. Soft knowledge: it stops nobody from deciding, and is forgotten soon.
import { useEffect } from 'react'
import { client } from '../client'
import type { Request, Viewers } from '../wire'
import { useInbox } from './inbox'
import { useSession } from './session'
import { create } from './store'

type Presence = { viewers: ReadonlyMap<string, Viewers['viewers']> }
const usePresence = create<Presence>(() => ({ viewers: new Map() }))

export function notePresence({ request, viewers }: Viewers): void {
  const next = new Map(usePresence.getState().viewers)
  next.delete(request)
  if (viewers.length) next.set(request, viewers)
  // Only what was heard lately; nobody looks at thousands.
  for (const id of next.keys()) if (next.size > 500) next.delete(id)
  usePresence.setState({ viewers: next })
}

const nobody: Viewers['viewers'] = []

/** The others who look at it now. */
export function useOthers(request: Request): string[] {
  const heard = usePresence((state) => state.viewers.get(request.id)) ?? request.viewers ?? nobody
  const me = useSession((state) => state.me?.name)
  return heard.map((viewer) => viewer.name).filter((name) => name !== me)
}

const settle_ms = 600
const again_ms = 10_000

/** Tells the others while this person looks at a request that waits. */
export function useLooking(request: Request): void {
  const id = request.state === 'pending' ? request.id : null
  useEffect(() => {
    if (id === null) return
    let is_told = false
    const say = (looking: boolean) => {
      is_told = looking
      void client.presence(id, looking).then(notePresence, () => undefined)
    }
    // Whoever only passes by on the way down the list is not looking.
    const start = setTimeout(() => !document.hidden && say(true), settle_ms)
    const again = setInterval(() => !document.hidden && say(true), again_ms)
    const onHide = () => (document.hidden ? is_told && say(false) : say(true))
    document.addEventListener('visibilitychange', onHide)
    return () => {
      clearTimeout(start)
      clearInterval(again)
      document.removeEventListener('visibilitychange', onHide)
      // Whoever has decided it is not missed: one call less for people who are quick.
      const { deciding, requests } = useInbox.getState()
      if (is_told && !deciding.has(id) && requests.get(id)?.state !== 'settled') say(false)
    }
  }, [id])
}
