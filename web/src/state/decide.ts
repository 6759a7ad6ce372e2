// Sending decisions. The page moves on at once, but says "approved" only when the server has said so; whoever loses
// a race learns who won it.
import { client } from '../client'
import { ServerError, sentence, Unreachable } from '../errors'
import { missingVotes } from '../model/authority'
import { beginning } from '../model/fold'
import { formatAgo } from '../model/time'
import { decisionWord, didTo, outcomeWord, plural, subjectOf } from '../model/words'
import type { DecisionCall, DecisionOfMany, DecisionResults, Request } from '../wire'
import { acceptDecided, setDeciding, toldSoFar, useInbox } from './inbox'
import { tell } from './notices'
import { useSession } from './session'
import { heldByMe, holdFor, offerUndo, refusesToHold, shorterHold } from './undo'

/** A decision without the digest of what was on the screen. */
export type Call = Omit<DecisionCall, 'digest'>

/** How a request that is settled came to be so: “Priya rejected this 2 s ago”. */
export function whoDecided(request: Request): string {
  const { decision, outcome } = request
  if (decision) return `${decision.by} ${didTo(decision.kind, 'this')} ${formatAgo(decision.at)}`
  return outcome ? `${outcomeWord[outcome]} ${formatAgo(request.settled_at ?? request.created_at)}` : 'still waiting'
}

const short = (text: string): string => (text.length > 60 ? `${beginning(text, 59)}…` : text)

/** What is left, to be put after a sentence. Nothing unless all of it is known. */
function left(): string {
  const { requests, deciding, is_complete } = useInbox.getState()
  if (!is_complete) return ''
  const count = [...requests.values()].filter((request) => request.state === 'pending' && !deciding.has(request.id)).length
  return count === 0 ? ' · nothing else waits' : ` · ${plural(count, 'request')} left`
}

function tellDone(call: Call, before: Request, after: Request): void {
  const kind = call.decision
  const what = short(subjectOf(before))
  if (offerUndo(what, kind, [after])) return
  if (call.grant && after.state === 'settled') return tell(`${what}: approved, and similar ones pass for a while${left()}`, { tone: 'good', link: { href: `/grants?request=${before.id}`, label: 'See the grant' } })
  if (after.state === 'settled') return tell(`${what}: ${decisionWord[kind]}${left()}`, { tone: 'good' })
  const to = after.requirement.lines.at(-1)
  if (kind === 'escalate') return tell(`${what}: escalated to ${to?.group ?? to?.people?.join(' or ') ?? 'somebody else'}`, { tone: 'good' })
  const missing = missingVotes(after)
  // What is missing are approvals: they say nothing about a no.
  const rest = kind === 'reject' ? 'it still waits' : missing === 1 ? 'one more person is needed' : `${missing} more people are needed`
  tell(`${what}: your vote counts; ${rest}`, { tone: 'good' })
}

/** True if this very decision of this person is what stands: an earlier attempt counted, and only its answer was lost. */
function isMine(standing: Request, { decision }: Call, { digest }: Request): boolean {
  const me = useSession.getState().me?.name
  if (standing.state === 'settled') return standing.decision?.by === me && standing.decision?.kind === decision
  // A vote for what it was before somebody changed it is another one.
  if (standing.digest !== digest) return false
  return heldByMe(standing)?.decision === decision || standing.votes.some((vote) => vote.by === me && vote.decision === decision)
}

/** How a request stands after a call that failed. `unknown` where no answer came and none can be had: it may have counted. */
async function standingAfter(error: unknown, id: string): Promise<Request | 'unknown' | null> {
  if (error instanceof ServerError && error.request) return error.request
  if (!(error instanceof Unreachable) && !(error instanceof ServerError && error.status === 503)) return null
  return client.request(id).catch(() => 'unknown' as const)
}

/** Why a decision did not count, or that nobody knows. */
function whyNot(standing: Request | 'unknown' | null, error: unknown): string {
  if (standing === 'unknown') return 'no answer came; it may have counted'
  if (standing?.state === 'settled') return `not your decision. ${whoDecided(standing)}`
  return `not decided. ${sentence(error)}`
}

const tellFailed = (request: Request, why: string): void => tell(`${short(subjectOf(request))}: ${why.replace(/\.$/, '')}.`, { tone: 'bad', request: request.id })

/** Says so and decides nothing: what a person decides on without a connection may be old. */
function isCutOff(): boolean {
  if (useInbox.getState().connection !== 'lost') return false
  tell('No connection: nothing was decided.', { tone: 'bad' })
  return true
}

/** Whether a decision changes what runs: the server judges that anew, and may ask for a code that nobody knew of. */
export const isChange = ({ decision, approved_steps }: Call): boolean => decision === 'modify' || Boolean(approved_steps)

/** Asks the person for the code without which the server does not take a decision; false if they are not there any more. */
export type AskForCode = (code: string) => boolean

/** Decides one request. True if the server took it. */
export async function decide(request: Request, call: Call, askForCode: AskForCode = () => false): Promise<boolean> {
  if (isCutOff() || useInbox.getState().deciding.has(request.id)) return false
  setDeciding([[request.id, call.decision]])
  const since = toldSoFar()
  try {
    const undo_s = holdFor(call, [request])
    const send = (undo_s: number | null) => client.decide(request.id, { ...call, digest: request.digest, ...(undo_s === null ? {} : { undo_s }) })
    const after = await send(undo_s).catch(async (error: unknown) => {
      if (undo_s === null || !refusesToHold(error)) throw error
      return send(await shorterHold(undo_s))
    })
    acceptDecided([request.id], since, after)
    tellDone(call, request, after)
    return true
  } catch (error) {
    const standing = await standingAfter(error, request.id)
    acceptDecided([request.id], since, ...(standing && standing !== 'unknown' ? [standing] : []))
    if (standing && standing !== 'unknown' && isMine(standing, call, request)) {
      tellDone(call, request, standing)
      return true
    }
    const code = error instanceof ServerError && !call.confirm && !call.passkey ? error.confirm : null
    if (code === null || !askForCode(code)) tellFailed(request, whyNot(standing, error))
    return false
  }
}

export type BulkResult = { done: number; failed: { request: Request; why: string }[] }

/** Where the server refuses only to hold them for so long, they are sent again. */
async function sendMany(decisions: DecisionOfMany[]): Promise<DecisionResults> {
  const answer = await client.decideMany(decisions)
  const again = answer.results.flatMap((one, i) => (one.error && refusesToHold(new ServerError(one.status, one.error)) ? [i] : []))
  if (again.length === 0) return answer
  const undo_s = await shorterHold(Math.max(...again.map((i) => decisions[i]!.undo_s ?? 0)))
  const second = await client.decideMany(again.map((i) => ({ ...decisions[i]!, undo_s })))
  again.forEach((i, at) => (answer.results[i] = second.results[at]!))
  return answer
}

/** Decides several, each judged alone by the server. */
export async function decideTogether(calls: { request: Request; call: Call }[]): Promise<BulkResult> {
  if (isCutOff()) return { done: 0, failed: calls.map(({ request }) => ({ request, why: 'no connection' })) }
  const ids = calls.map(({ request }) => request.id)
  setDeciding(calls.map(({ request, call }) => [request.id, call.decision]))
  const result: BulkResult = { done: 0, failed: [] }
  const standings: Request[] = []
  const known: Request[] = []
  const since = toldSoFar()
  const take = (i: number, standing: Request | 'unknown' | null, error: unknown) => {
    const { request, call } = calls[i]!
    const is_known = standing !== null && standing !== 'unknown'
    if (is_known) known.push(standing)
    if (error && !(is_known && isMine(standing, call, request))) return void result.failed.push({ request, why: whyNot(standing, error) })
    if (is_known) standings.push(standing)
    result.done += 1
  }
  try {
    const all = calls.map(({ request }) => request)
    const decisions = calls.map(({ request, call }): DecisionOfMany => {
      const undo_s = holdFor(call, all)
      return { ...call, id: request.id, digest: request.digest, ...(undo_s === null ? {} : { undo_s }) }
    })
    const answer = await sendMany(decisions)
    for (const [i, one] of answer.results.entries()) take(i, one.request ?? one.error?.request ?? null, one.error && new ServerError(one.status, one.error))
  } catch (error) {
    const found = await Promise.all(ids.map((id) => standingAfter(error, id)))
    found.forEach((standing, i) => take(i, standing, error))
  } finally {
    acceptDecided(ids, since, ...known)
  }
  const held = standings.filter((request) => heldByMe(request)).length
  const at_once = result.done > held ? `${plural(result.done - held, 'request')} decided` : ''
  // One notice for one press.
  if (held) offerUndo(`${at_once ? `${at_once}; ` : ''}${plural(held, 'request')}`, 'approve', standings)
  else if (at_once) tell(`${at_once}${left()}`, { tone: 'good' })
  for (const { request, why } of result.failed.slice(0, 3)) tellFailed(request, why)
  return result
}
