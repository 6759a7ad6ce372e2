// Putting a request out of one's own sight for a while, on every device. Nothing stays out of sight up to its deadline.
import { client } from '../client'
import { sentence } from '../errors'
import { returns_before_ms, snoozedUntil } from '../model/snooze'
import { formatMoment, serverNow } from '../model/time'
import { subjectOf } from '../model/words'
import type { Request } from '../wire'
import { accept } from './inbox'
import { tell } from './notices'

/** Out of sight until then; null brings it back. */
export async function snooze(request: Request, until: Date | null): Promise<void> {
  const at = until?.toISOString() ?? null
  try {
    accept(await client.snooze(request.id, at))
    if (!at) return tell(`${subjectOf(request)}: back in the list`)
    const back = new Date(Math.min(Date.parse(at), Date.parse(request.expires_at) - returns_before_ms))
    tell(`${subjectOf(request)}: out of sight until ${formatMoment(back.toISOString())}`, { action: { label: 'Bring back', run: () => void snooze(request, null) } })
  } catch (error) {
    tell(sentence(error), { tone: 'bad', request: request.id })
  }
}

export const isSnoozed = (request: Request): boolean => snoozedUntil(request, serverNow()) !== null
