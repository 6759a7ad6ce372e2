// Approving this one and similar ones for a while: the terms, what they mean in words, and what they would have let pass
// lately. The policy says what "similar" means and how much can be given at most.
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import { client } from '../client'
import { sentence } from '../errors'
import { missingVotes } from '../model/authority'
import { coverageOf, durationWord, hypothetical, offerFor, scopeOf, scopeWords, wireTerms, type Coverage, type Offer, type Terms } from '../model/grant'
import type { Press } from '../model/guard'
import { parseNumber } from '../model/json'
import { visibleText } from '../model/marked_text'
import { callOf, readExplained } from '../model/policy'
import { readPolicyText, type GrantRules } from '../model/policy_text'
import { plural, outcomeWord } from '../model/words'
import { useLoad } from '../state/load'
import { tell } from '../state/notices'
import { WarnIcon } from '../ui/icons'
import { Ago, Spinner } from '../ui/parts'
import { Title } from '../ui/title'
import type { DecisionCall, Request } from '../wire'
import { Consequences, Foot, Panel } from './composers'

type Call = Omit<DecisionCall, 'digest'>
type Props = {
  request: Request
  can_send: boolean
  onSend: (call: Call, meaning: string) => void
  /** Other terms stand there now: only from here on a press can mean them. */
  onShown: () => void
  admits: (press: Press) => boolean
  onClose: () => void
}
type ChooseProps = {
  request: Request
  can_send: boolean
  rules: GrantRules
  offer: Offer & { can: true }
  history: Request[]
  is_complete: boolean
  onSend: (call: Call, meaning: string, press: Press) => void
  onClose: () => void
}

const history_max = 100
const spans_s = [900, 3600, 4 * 3600, 8 * 3600]

function spansWithin(max_s: number): number[] {
  const fitting = spans_s.filter((span) => span <= max_s)
  return fitting.at(-1) === max_s || fitting.length === spans_s.length ? fitting : [...fitting, max_s]
}

function NumberInput({ id, label, value, max, is_whole = false, onChange }: { id: string; label: string; value: number; max: number; is_whole?: boolean; onChange: (value: number) => void }) {
  const [text, setText] = useState(String(value))
  const valueOf = (text: string): number => {
    const read = parseNumber(text)
    return 'value' in read && read.value > 0 && read.value <= max && (!is_whole || Number.isInteger(read.value)) ? read.value : NaN
  }
  return (
    <div>
      <label htmlFor={id} className="label mb-1 block">
        {label}
      </label>
      <input
        id={id}
        className="field w-28"
        inputMode="decimal"
        autoComplete="off"
        value={text}
        aria-invalid={Number.isNaN(valueOf(text))}
        onChange={(event) => {
          setText(event.target.value)
          onChange(valueOf(event.target.value))
        }}
      />
    </div>
  )
}

function Covered({ coverage, is_complete }: { coverage: Coverage; is_complete: boolean }) {
  const { covered, refused, of, sum } = coverage
  if (of === 0) return <p className="m-0 text-soft">Nothing like it was asked before, so there is nothing to compare with.</p>
  return (
    <>
      <p className="m-0">
        Of the {is_complete ? '' : 'last '}
        {plural(of, 'earlier request')} by this agent for this tool, <b>{covered.length === 0 ? 'none' : covered.length}</b> would have passed
        {sum !== null && covered.length > 0 ? `, ${Number(sum.toFixed(2))} in total` : ''}.
      </p>
      {refused.length > 0 && (
        <p className="m-0 mt-1 flex items-start gap-2 font-medium text-no">
          <WarnIcon />
          <span>{plural(refused.length, 'of these was', 'of these were')} refused or changed by people.</span>
        </p>
      )}
      {covered.length > 0 && (
        <ul className="m-0 mt-2 list-none p-0 text-[0.875rem]">
          {[...refused, ...covered.filter((one) => !refused.includes(one))].slice(0, 4).map((one) => (
            <li key={one.id} className="flex items-baseline gap-3 border-t border-line py-1">
              <span className="foreign-line min-w-0 flex-1">
                <Title request={one} />
              </span>
              <span className={`shrink-0 ${refused.includes(one) ? 'font-medium text-no' : 'text-soft'}`}>{one.outcome ? outcomeWord[one.outcome] : 'waits'}</span>
              <span className="hidden w-24 shrink-0 text-right text-faint sm:block">
                <Ago at={one.created_at} />
              </span>
            </li>
          ))}
          {covered.length > 4 && <li className="border-t border-line py-1 text-faint">and {covered.length - 4} more</li>}
        </ul>
      )}
    </>
  )
}

/** Asks the policy in force whether such a grant would let this very call pass: some rules ask every time. */
function useAsked(request: Request, rules: GrantRules, terms: Terms): string | null {
  const grant = hypothetical(scopeOf(request, rules, terms))
  const call = grant ? { ...callOf(request), grants: [grant] } : null
  const { data } = useLoad(call ? `granted ${JSON.stringify(call)}` : null, () => client.explain(call!), { fresh_ms: 60_000 })
  if (!data) return null
  const said = readExplained(data.verdict)
  if (said.kind === 'allow') return null
  const by = said.rule || said.gate
  return `The policy would ask again all the same${by ? ` (${by})` : ''}: ${said.because || 'it is a requirement that no grant waives'}.`
}

function Choose({ request, can_send, rules, offer, history, is_complete, onSend, onClose }: ChooseProps) {
  const spans = spansWithin(offer.ttl_max_s)
  const [terms, setTerms] = useState<Terms>(() => ({
    for_s: spans.includes(3600) ? 3600 : spans[0]!,
    uses: Math.min(5, offer.uses_max),
    sum: offer.sum?.max ?? null,
    session: !offer.similar,
    words: null,
  }))
  const id = useId()
  const first = useRef<HTMLInputElement>(null)
  useEffect(() => first.current?.focus(), [])
  const put = (part: Partial<Terms>) => setTerms((old) => ({ ...old, ...part }))
  const scope = scopeOf(request, rules, terms)
  const coverage = useMemo(() => coverageOf(scope, history, request.id), [scope, history, request.id])
  const objection = useAsked(request, rules, terms)
  const is_ready = !Number.isNaN(terms.uses) && !Number.isNaN(terms.sum)
  return (
    <>
      <div className="mb-3 flex flex-wrap items-end gap-x-5 gap-y-3">
        <fieldset className="m-0 border-0 p-0">
          <legend className="label mb-1 p-0">For</legend>
          <div className="flex flex-wrap gap-1.5">
            {spans.map((span, i) => (
              <label key={span} className="flex min-h-9 cursor-pointer items-center rounded-lg border border-line px-3 has-checked:border-accent has-checked:bg-pick has-checked:font-medium has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent">
                <input ref={i === 0 ? first : undefined} type="radio" name={`${id}-for`} className="sr-only" checked={terms.for_s === span} onChange={() => put({ for_s: span })} />
                {durationWord(span)}
              </label>
            ))}
          </div>
        </fieldset>
        <NumberInput id={`${id}-uses`} label={`Times, at most ${offer.uses_max}`} value={terms.uses} max={offer.uses_max} is_whole onChange={(uses) => put({ uses })} />
        {offer.sum && offer.sum.max !== null && (
          <NumberInput id={`${id}-sum`} label={`Total, at most ${offer.sum.max}`} value={terms.sum ?? offer.sum.max} max={offer.sum.max} onChange={(sum) => put({ sum })} />
        )}
        {offer.words_max !== null && (
          <div>
            <label htmlFor={`${id}-words`} className="label mb-1 block">
              Command
            </label>
            <select id={`${id}-words`} className="field" value={terms.words ?? ''} onChange={(event) => put({ words: event.target.value ? Number(event.target.value) : null })}>
              <option value="">exactly this one</option>
              {Array.from({ length: offer.words_max - 2 }, (_, i) => (
                <option key={i} value={i + 2}>
                  its first {i + 2} words
                </option>
              ))}
            </select>
          </div>
        )}
        {offer.session && (
          <label className="flex min-h-9 cursor-pointer items-center gap-2">
            <input type="checkbox" className="size-4 accent-accent" checked={terms.session} disabled={!offer.similar} onChange={(event) => put({ session: event.target.checked })} />
            Only in this session
          </label>
        )}
      </div>
      <div className="mb-1 rounded-lg border border-line bg-well px-4 py-3" role="region" aria-label="What it would have let pass">
        <Covered coverage={coverage} is_complete={is_complete} />
        {objection && (
          <p className="m-0 mt-2 flex items-start gap-2 font-medium text-high">
            <WarnIcon />
            <span className="foreign">{visibleText(objection)}</span>
          </p>
        )}
        <p className="m-0 mt-2 text-[0.875rem] text-faint">It ends early when somebody rejects such a call, when the policy changes, or when you revoke it.</p>
      </div>
      <Foot onClose={onClose}>
        {/* Beside the button, so that it is read where there is little room too. */}
        {is_ready ? (
          <p className="foreign m-0 w-full font-medium">{visibleText(scopeWords(scope, terms))}</p>
        ) : (
          <p className="m-0 w-full text-no">
            {Number.isNaN(terms.uses) ? `How many times: a whole number. The policy gives at most ${plural(offer.uses_max, 'use')}.` : `The total: a number. The policy gives at most ${offer.sum?.max} in total.`}
          </p>
        )}
        <button type="button" className="btn btn-yes min-h-11 md:min-h-9" disabled={!is_ready || !can_send} onClick={(press) => onSend({ decision: 'approve', grant: wireTerms(terms) }, scopeWords(scope, terms), press)}>
          Approve, and similar for {durationWord(terms.for_s)}
        </button>
      </Foot>
    </>
  )
}

function Refusal({ children, onClose }: { children: ReactNode; onClose: () => void }) {
  return (
    <>
      <p className="foreign mb-3 mt-0 text-soft">{children}</p>
      <button type="button" className="btn min-h-11 md:min-h-9" onClick={onClose}>
        Back
      </button>
    </>
  )
}

export default function GrantPanel({ request, can_send, onSend, onShown, admits, onClose }: Props) {
  const tool = request.action?.tool ?? ''
  const policy = useLoad('policy', client.policy, { fresh_ms: 30_000 })
  const history = useLoad(`history of ${JSON.stringify([request.agent, tool])}`, () => client.list({ agent: request.agent, tool, limit: String(history_max) }), { fresh_ms: 10_000 })
  const rules = useMemo(() => readPolicyText(policy.data?.text ?? null).grants, [policy.data])
  const offer = offerFor(request, rules)
  const version = policy.data?.version
  const shown = useRef<string>(undefined)
  useLayoutEffect(() => {
    if (shown.current && shown.current !== version) onShown()
    shown.current = version
  }, [version, onShown])
  const is_here = useRef(false)
  useEffect(() => {
    is_here.current = true
    return () => void (is_here.current = false)
  }, [])
  const is_asking = useRef(false)
  const [is_outdated, setOutdated] = useState(false)
  /** The server gives what the policy in force offers: that must be the one these words were made of. */
  const send = async (call: Call, meaning: string, press: Press) => {
    // Judged when it comes, not when the policy has been read.
    if (is_asking.current || !admits(press)) return
    is_asking.current = true
    try {
      const now = await client.policy()
      // Whoever left has given nothing.
      if (!is_here.current) return
      if (now.version === version) return onSend(call, meaning)
      setOutdated(true)
      policy.renew()
    } catch (error) {
      if (is_here.current) tell(`${sentence(error)} Nothing is granted.`, { tone: 'bad' })
    } finally {
      is_asking.current = false
    }
  }
  let body: ReactNode
  if (missingVotes(request) > 1) body = <Refusal onClose={onClose}>More people have to agree first. Whoever gives the last approval can let similar ones pass.</Refusal>
  else if (policy.is_loading || history.is_loading) body = <Spinner />
  else if (!policy.data || !history.data) body = <Refusal onClose={onClose}>What the policy offers could not be read. Nothing is granted.</Refusal>
  else if (!offer.can || !rules)
    body = (
      <Refusal onClose={onClose}>
        Similar ones cannot be let pass: {visibleText(offer.can ? 'the policy offers no grants' : offer.why)}.{' '}
        <Link href="/policy" className="btn-link">
          See the policy
        </Link>
      </Refusal>
    )
  else body = <Choose key={version} request={request} can_send={can_send} onSend={(...pressed) => void send(...pressed)} onClose={onClose} rules={rules} offer={offer} history={history.data.requests} is_complete={history.data.next_cursor === null} />
  return (
    <Panel title="Approve this, and similar ones for a while" onClose={onClose}>
      {(request.risk.level === 'high' || request.risk.level === 'critical') && <Consequences request={request} />}
      {is_outdated && (
        <p role="alert" className="m-0 mb-2 font-medium text-medium">
          The policy has changed meanwhile, and nothing was sent: look again at what this lets pass.
        </p>
      )}
      {body}
    </Panel>
  )
}
