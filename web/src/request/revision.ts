// What a person makes of a request before approving it: the draft, the request as it would run with it, and the call that
// sends it. The page shows, compares and sends the same thing.
import type { Call } from '../state/decide'
import type { Json, JsonObject, Plan, Request } from '../wire'

export type Step = Plan['steps'][number]
export type Revision = { arguments: JsonObject; steps: Step[]; text: string; is_valid: boolean }

export const unrevised = ({ action, plan, response }: Request): Revision => ({ arguments: action?.arguments ?? {}, steps: plan?.steps ?? [], text: response?.text ?? '', is_valid: true })

const bareStep = ({ action, tool, description, optional }: Step) => ({ action, optional, ...(tool ? { tool } : {}), ...(description ? { description } : {}) })

/** The request as it would run: with the draft in place of what was asked, and without the steps that are left out. */
export function revised(request: Request, revision: Revision, skipped: ReadonlySet<number>): Request {
  const { action, plan, response } = request
  const steps = revision.steps.filter((step) => !skipped.has(step.order)).map((step, i) => ({ ...bareStep(step), order: i + 1 }))
  return {
    ...request,
    ...(action && { action: { ...action, arguments: revision.arguments } }),
    ...(plan && { plan: { ...plan, steps } }),
    ...(response && { response: { ...response, text: revision.text } }),
  }
}

/** Everything about a request that a person can change. */
export const changeable = ({ action, plan, response }: Request): Json => action?.arguments ?? (plan?.steps.map(bareStep) as Json | undefined) ?? response?.text ?? null

/** Approves a request as it was revised. */
export function modification({ action, plan, response }: Request): Call {
  if (action) return { decision: 'modify', arguments: action.arguments }
  if (response) return { decision: 'modify', response: { text: response.text, format: response.format } }
  const { title, steps, modifiable, estimated_duration_s } = plan!
  return { decision: 'modify', plan: { title, modifiable, steps, ...(estimated_duration_s != null ? { estimated_duration_s } : {}) } }
}

/** What keeps a change from being sent: a value that does not fit, or nothing where something has to be said. */
export function whatIsMissing({ plan, response }: Request, { steps, text, is_valid }: Revision, skipped: ReadonlySet<number>): string | null {
  if (!is_valid) return 'A value does not fit.'
  const empty = plan ? steps.findIndex((step) => !skipped.has(step.order) && !step.action.trim()) : -1
  if (empty >= 0) return `Step ${empty + 1} is empty.`
  return response && !text.trim() ? 'The answer is empty.' : null
}
