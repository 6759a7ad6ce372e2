// Decisions that the server holds for a few seconds, so that whoever pressed too fast can take them back.
import { client } from '../client'
import { sentence, ServerError } from '../errors'
import { serverNow } from '../model/time'
import { decisionWord, plural, subjectOf } from '../model/words'
import type { DecisionCall, DecisionKind, Request } from '../wire'
import { acceptAnswer, select, toldSoFar, useInbox } from './inbox'
import { dismiss, tell, useNotices } from './notices'
import { renewSession, useSession } from './session'
import { useSettings } from './settings'

const wished_s = 5

/** As long as a person needs to notice, or as long as the server holds anything. */
function hold_s(): number | null {
  const session = useSession.getState()
  const most_s = session.status === 'signed_in' ? session.undo_max_s : 0
  return Math.min(wished_s, most_s) || null
}

/** True if the server refused only to hold the decision for so long: it may be sent again. */
export const refusesToHold = (error: unknown): boolean => error instanceof ServerError && error.status === 422 && /(?:^|\.)undo_s$/.test(error.field ?? '')

/** How long it can be held instead: an operator may have made that shorter since this page was told. Null: it counts at once. */
export async function shorterHold(refused_s: number): Promise<number | null> {
  await renewSession()
  const now_s = hold_s()
  return now_s !== null && now_s < refused_s ? now_s : null
}

/** How long a decision is held: what releases something risky or many things at once, or whatever the person chose. A no counts at once. */
export function holdFor({ decision, grant, confirm, passkey }: Pick<DecisionCall, 'decision' | 'grant' | 'confirm' | 'passkey'>, requests: Request[]): number | null {
  if (decision !== 'approve' && decision !== 'modify' && decision !== 'answer') return null
  // A grant counts at once, and so does the approval it came with.
  if (grant) return null
  const { hold } = useSettings.getState()
  if (hold === 'off') return null
  // What needed a code was confirmed already. A question needs none, however critical.
  if (confirm || passkey) return null
  if (hold === 'all') return hold_s()
  return requests.length > 1 || requests.some(({ risk }) => risk.level === 'high' || risk.level === 'critical') ? hold_s() : null
}

/** This person's decision on a request that is not yet in effect. */
export function heldByMe(request: Request): NonNullable<Request['held']>[number] | null {
  const me = useSession.getState().me?.name
  return request.held?.find((one) => one.by === me) ?? null
}

let latest: string[] = []

/** Takes back what was held last. */
export function undoLatest(): void {
  // The one before it is not what they mean.
  const { deciding, requests } = useInbox.getState()
  if (deciding.size) return tell('The decision is still on its way: press again.')
  const held = latest.filter((id) => isHeld(requests.get(id)))
  // The event of a decision may come before the answer to it, and another window may have made it.
  void takeBack(held.length ? latest : newestHeld([...requests.values()]))
}

const isHeld = (request: Request | undefined): boolean => request !== undefined && heldByMe(request) !== null

/** Takes back these, once; the requests are under the cursor again. */
async function takeBack(these: string[]): Promise<void> {
  const { requests } = useInbox.getState()
  const held = these.splice(0).filter((id) => isHeld(requests.get(id)))
  if (held.length === 0) return tell('There is nothing to take back any more.')
  await recall(held, select)
}

/** What is taken back is not offered any more. */
function withdraw(taken: string[]): void {
  for (const { id, action } of useNotices.getState().notices) if (action?.about?.every((one) => taken.includes(one))) dismiss(id)
}

function newestHeld(requests: Request[]): string[] {
  const untilOf = (request: Request) => Date.parse(heldByMe(request)?.until ?? '') || 0
  const newest = requests.reduce<Request | null>((best, one) => (untilOf(one) > (best ? untilOf(best) : 0) ? one : best), null)
  return newest ? [newest.id] : []
}

/** Takes one back; `then` is where the person goes on, by default at that request. */
export const undo = (id: string, then: (id: string) => void = select): Promise<void> => recall([id], then)

/** All at once, because each has only seconds; what came of it is told once. */
async function recall(ids: string[], then: (id: string) => void): Promise<void> {
  withdraw(ids)
  const since = toldSoFar()
  const failed: [id: string, error: unknown][] = []
  const answers = await Promise.all(ids.map((id) => client.undo(id).catch((error: unknown) => void failed.push([id, error]))))
  const taken = answers.filter((one) => one !== undefined)
  const countOf = (some: unknown[]) => plural(some.length, 'request')
  acceptAnswer(since, ...taken)
  if (taken[0]) {
    then(taken[0].id)
    tell(`${ids.length > 1 ? countOf(taken) : `${subjectOf(taken[0])}:`} taken back; ${taken.length > 1 ? 'they wait' : 'it waits'} again`, { tone: 'good' })
  }
  if (failed[0]) tell(`${ids.length > 1 ? `${countOf(failed)} not taken back. ` : ''}${sentence(failed[0][1])}`, { tone: 'bad', request: failed[0][0] })
  // So that the next try is about these, unless something else was decided meanwhile.
  if (!latest.some((id) => isHeld(useInbox.getState().requests.get(id)))) latest = failed.map(([id]) => id)
}

/** Says that decisions are held, with the button that takes them back. True if any is. */
export function offerUndo(what: string, kind: DecisionKind, after: Request[]): boolean {
  const held = after.flatMap((request) => heldByMe(request) ?? [])
  if (held.length === 0) return false
  const ids = (latest = after.filter((request) => heldByMe(request)).map((request) => request.id))
  const left_ms = Math.max(1000, Math.max(...held.map((one) => Date.parse(one.until))) - serverNow())
  tell(`${what}: ${decisionWord[kind]}; ${ids.length > 1 ? 'they take' : 'it takes'} effect in ${Math.ceil(left_ms / 1000)} s`, { tone: 'good', for_ms: left_ms, action: { label: 'Undo', run: () => void takeBack(ids), about: [...ids] } })
  return true
}
