// Everything around a request that helps to decide, each piece labelled with who says it.
import { Suspense, useEffect, useState } from 'react'
import { client } from '../client'
import { likenessOf, type Likeness } from '../model/likeness'
import { visibleText } from '../model/marked_text'
import { claimedRisk, plural } from '../model/words'
import { useLoad } from '../state/load'
import { Earlier, Technical, Timeline, Verdict } from '../ui/deciding'
import { JsonView } from '../ui/json_view'
import { Fold, Section, Spinner } from '../ui/parts'
import { LongText, SafeText } from '../ui/safe_text'
import { isObject } from '../model/json'
import type { Json, Request } from '../wire'
import { ChangeList } from './diff_view'

const startOfToday = (): string => new Date(new Date().setHours(0, 0, 0, 0)).toISOString()

const passing_ms = 250
let last_opened_at = -Infinity

/** False while somebody runs down the list: what is only passed by asks the server for nothing. */
function useStays(): boolean {
  const [stays, setStays] = useState(() => {
    const before = last_opened_at
    last_opened_at = performance.now()
    return last_opened_at - before > passing_ms
  })
  useEffect(() => {
    const timer = setTimeout(() => setStays(true), passing_ms)
    return () => clearTimeout(timer)
  }, [])
  return stays
}

/** What was approved today of what a request asks; nothing to compare with while it is not known. */
export function useLikeness(request: Request): { likeness: Likeness | null; is_loading: boolean } {
  const tool = request.state === 'pending' ? request.action?.tool : undefined
  const stays = useStays()
  const { data, is_loading } = useLoad(
    tool === undefined || !stays ? null : `approved today ${JSON.stringify([request.agent, tool])}`,
    () => client.list({ outcome: 'approved', agent: request.agent, tool: tool!, since: startOfToday(), limit: '100' }),
    { fresh_ms: 10_000 },
  )
  return { likeness: data ? likenessOf(request, data.requests) : null, is_loading: is_loading || (tool !== undefined && !stays) }
}

/** “Same as the 12 approved today except amount 24 → 240.” */
export function LikenessLine({ likeness }: { likeness: Likeness | null }) {
  if (!likeness) return null
  const { count, differences, judged } = likeness
  const times = count === 1 ? 'the one approved today' : `the last of ${count} approved today`
  return (
    <Section title="Compared with before">
      {differences.length === 0 ? (
        <p className="m-0">
          {judged.length ? 'The same' : 'Exactly the same'} as {times}, by {visibleText(likeness.latest.decision?.by ?? 'policy')}.
        </p>
      ) : (
        <>
          <p className="m-0 mb-2">
            Same as {times} except in {plural(differences.length, 'value')}:
          </p>
          <ChangeList changes={differences} />
        </>
      )}
      {judged.map(({ what, before, after }) => (
        <p key={what} className="m-0 mt-1.5">
          Another {what}: <SafeText text={before} /> → <b><SafeText text={after} /></b>
        </p>
      ))}
    </Section>
  )
}

/** What the agent claims. It is never mixed with what the server found out. */
export function AgentSays({ request }: { request: Request }) {
  const { action, agent } = request
  const says: [string, string][] = []
  if (action?.description) says.push(['What it does', action.description])
  if (action?.expected_outcome) says.push(['What it expects', action.expected_outcome])
  const reasoning = request.context?.['current_reasoning']
  if (typeof reasoning === 'string' && reasoning) says.push(['Why now', reasoning])
  const risk = claimedRisk(request.risk.claimed)
  if (risk) says.push(['About the risk', risk])
  if (says.length === 0 && action?.estimated_cost == null) return null
  return (
    <Section title={`${visibleText(agent)} says`}>
      <div className="border-l-2 border-line pl-4">
        {says.map(([label, text]) => (
          <div key={label} className="mb-2 last:mb-0">
            <span className="text-[0.8125rem] text-faint">{label}</span>
            <p className="foreign m-0">
              <LongText text={text} />
            </p>
          </div>
        ))}
        {action?.estimated_cost != null && <p className="m-0 text-soft">Estimated cost: {action.estimated_cost}</p>}
      </div>
    </Section>
  )
}

const labels: [string, string][] = [
  ['user_prompt', 'The user asked'],
  ['task_description', 'Task'],
  ['conversation_summary', 'Conversation so far'],
  ['steps_completed', 'Done so far'],
  ['relevant_history', 'Relevant history'],
]

function Told({ value }: { value: Json }) {
  if (typeof value === 'string')
    return (
      <p className="foreign m-0">
        <LongText text={value} />
      </p>
    )
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return (
      <ol className="m-0 list-decimal pl-5">
        {value.slice(0, 50).map((item, i) => (
          <li key={i} className="foreign">
            <LongText text={item} />
          </li>
        ))}
      </ol>
    )
  return <JsonView value={value} />
}

export function ContextView({ request }: { request: Request }) {
  const context = request.context
  if (!isObject(context ?? undefined) || !context) return null
  const known = labels.filter(([name]) => context[name] != null && context[name] !== '')
  const other = Object.entries(context).filter(([name, value]) => value !== null && name !== 'current_reasoning' && !labels.some(([label]) => label === name))
  if (known.length + other.length === 0) return null
  return (
    <Section title="Context from the agent">
      <div className="grid gap-3">
        {known.map(([name, label]) => (
          <div key={name}>
            <span className="text-[0.8125rem] text-faint">{label}</span>
            <Told value={context[name]!} />
          </div>
        ))}
        {other.length > 0 && <JsonView value={Object.fromEntries(other)} />}
      </div>
    </Section>
  )
}

export function PolicyFold({ request }: { request: Request }) {
  return (
    <Fold title={request.state === 'pending' ? 'Why this waits, and who decides' : 'Why this waited, and who decided'}>
      <Suspense fallback={<Spinner />}>
        <Verdict request={request} />
      </Suspense>
    </Fold>
  )
}

export function EarlierFold({ request }: { request: Request }) {
  return (
    <Fold title={request.session ? 'Earlier in this session and from this agent' : 'Earlier from this agent'}>
      <Suspense fallback={<Spinner />}>
        <Earlier request={request} />
      </Suspense>
    </Fold>
  )
}

export function TechnicalFold({ request }: { request: Request }) {
  return (
    <Fold title="Identifiers and metadata">
      <Suspense fallback={<Spinner />}>
        <Technical request={request} />
      </Suspense>
    </Fold>
  )
}

/** Every event of a request: who did what, when, through which door. */
export function TimelineFold({ request, is_open }: { request: Request; is_open: boolean }) {
  return (
    <Fold title="Timeline" is_open={is_open}>
      <Suspense fallback={<Spinner />}>
        <Timeline request={request} />
      </Suspense>
    </Fold>
  )
}
