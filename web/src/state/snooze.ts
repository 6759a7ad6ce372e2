// Putting a request out of one's own sight for a while. Where the server keeps it, it holds on every device; else it is kept in
// this browser only. Nothing stays out of sight up to its deadline.
import { create } from 'zustand'
import { client } from '../client'
import { sentence } from '../errors'
import { returns_before_ms, snoozedUntil } from '../model/snooze'
import { formatMoment, serverNow } from '../model/time'
import { subjectOf } from '../model/words'
import { is_served, type Request } from '../wire'
import { accept } from './inbox'
import { tell } from './notices'

const place = 'holdpoint.snoozed'

function stored(): ReadonlyMap<string, string> {
  try {
    const found = JSON.parse(localStorage.getItem(place) ?? '[]') as [string, string][]
    return new Map(found.filter(([, until]) => Date.parse(until) > Date.now()))
  } catch {
    return new Map()
  }
}

type Snoozed = { here: ReadonlyMap<string, string> }
const useHere = create<Snoozed>()(() => ({ here: stored() }))

/** Until when each request is out of sight, for those that this browser alone remembers. */
export const useSnoozedHere = (): ReadonlyMap<string, string> => useHere((state) => state.here)

function keepHere(id: string, until: string | null): void {
  const here = new Map(useHere.getState().here)
  if (until) here.set(id, until)
  else here.delete(id)
  useHere.setState({ here })
  try {
    localStorage.setItem(place, JSON.stringify([...here].slice(-500)))
  } catch {
    // Without storage it holds until the page closes.
  }
}

/** Out of sight until then; null brings it back. */
export async function snooze(request: Request, until: Date | null): Promise<void> {
  const at = until?.toISOString() ?? null
  try {
    if (is_served.snoozeRequest) accept(await client.snooze(request.id, at))
    else keepHere(request.id, at)
    if (!at) return tell(`${subjectOf(request)}: back in the list`)
    const back = new Date(Math.min(Date.parse(at), Date.parse(request.expires_at) - returns_before_ms))
    tell(`${subjectOf(request)}: out of sight until ${formatMoment(back.toISOString())}${is_served.snoozeRequest ? '' : ', in this browser'}`, { action: { label: 'Bring back', run: () => void snooze(request, null) } })
  } catch (error) {
    tell(sentence(error), { tone: 'bad', request: request.id })
  }
}

export const isSnoozed = (request: Request, here: ReadonlyMap<string, string>): boolean => snoozedUntil(request, here, serverNow()) !== null
