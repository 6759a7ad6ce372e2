// Another policy against the past: how many questions it saves, and first of all what people refused and it would let pass.
import { diffLines } from 'diff'
import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import { client } from '../client'
import { visibleText } from '../model/marked_text'
import { casesInOrder, readBacktest, verdictWord, type BacktestResult } from '../model/policy'
import { ownText } from '../model/policy_text'
import { outcomeWord, plural } from '../model/words'
import { tell } from '../state/notices'
import { useMe } from '../state/session'
import { WarnIcon } from '../ui/icons'
import { Figure, Problem, Spinner } from '../ui/parts'
import type { Policy } from '../wire'
import { useCandidate } from './candidate'

export const starter = `holdpoint: 1
policy: mine
extends: standard

tools:
  find_order: {read_only: true, risk: low, args: {order: string}}
  refund: {destructive: true, risk: high, args: {order: string, amount: number}}

rules:
  - {id: small, tools: [refund], when: args.amount > 0 && args.amount <= 20, then: allow, auto_risk: high}
`

const spans: [string, number | null][] = [['everything stored', null], ['the last 24 hours', 86_400], ['the last 7 days', 604_800], ['the last 30 days', 2_592_000]]

const toneOf = { dangerous: 'text-no', now_denied: 'text-high', changed: 'text-soft' }

export function Cases({ result, chosen, onChoose }: { result: BacktestResult; chosen?: ReadonlySet<string>; onChoose?: (id: string) => void }) {
  const all = casesInOrder(result)
  if (all.length === 0) return <p className="m-0 text-soft">It would have judged every call as it was judged.</p>
  return (
    <div className="relative overflow-x-auto" tabIndex={0} role="region" aria-label="What would be judged otherwise">
      <table role="table" className="rows w-full border-collapse text-[0.875rem] md:min-w-[40rem]">
        <thead role="rowgroup">
          <tr role="row" className="border-b border-edge text-left text-[0.8125rem] text-faint">
            {onChoose && (
              <th role="columnheader" scope="col" className="py-1.5 pr-3 font-medium">
                Looked at
              </th>
            )}
            <th role="columnheader" scope="col" className="py-1.5 pr-4 font-medium">
              Call
            </th>
            <th role="columnheader" scope="col" className="py-1.5 pr-4 font-medium">
              Then
            </th>
            <th role="columnheader" scope="col" className="py-1.5 pr-4 font-medium">
              With this policy
            </th>
            <th role="columnheader" scope="col" className="py-1.5 font-medium">
              By
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {all.slice(0, 200).map(({ kind, one }) => (
            <tr role="row" key={one.id} className={`border-b border-line align-baseline ${kind === 'dangerous' ? 'bg-no-wash max-md:px-3' : ''}`}>
              {onChoose && (
                <td role="cell" className="md:py-2 md:pr-3 md:pl-2">
                  {kind === 'dangerous' && <input type="checkbox" className="size-4 accent-accent" aria-label={`I have looked at ${visibleText(one.tool)} ${one.id}`} checked={chosen?.has(one.id) ?? false} onChange={() => onChoose(one.id)} />}
                </td>
              )}
              <td role="cell" className="md:py-2 md:pr-4">
                <Link href={`/r/${one.id}`} className="btn-link font-mono">
                  {visibleText(one.tool || 'request')}
                </Link>{' '}
                <span className="font-mono text-[0.8125rem] text-faint">{one.id.slice(-6)}</span>
              </td>
              <td role="cell" data-label="then" className="md:py-2 md:pr-4">{one.outcome ? outcomeWord[one.outcome] : verdictWord[one.before]}</td>
              <td role="cell" data-label="now" className={`md:py-2 md:pr-4 font-medium ${toneOf[kind]}`}>{verdictWord[one.after]}</td>
              <td role="cell" className="foreign md:py-2">
                <span className="font-mono">{visibleText(one.rule)}</span> <span className="text-faint">{visibleText(one.because)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {all.length > 200 && <p className="mb-0 text-faint">and {all.length - 200} more</p>}
    </div>
  )
}

export function Summary({ result }: { result: BacktestResult }) {
  return (
    <>
      <div className="mb-6 grid grid-cols-2 gap-6 lg:grid-cols-4">
        <Figure value={`${result.prompts_before} → ${result.prompts_after}`} label={`questions to people, out of ${plural(result.calls, 'call')}`} />
        <Figure value={result.prompts_saved} label="questions less" />
        <Figure value={result.prompts_added} label="questions more" />
        <Figure value={`${Math.round(result.minutes_saved)} min`} label="of waiting for people saved" />
      </div>
      {result.dangerous.length > 0 && (
        <p className="mb-3 flex items-start gap-2 rounded-lg bg-no-wash px-4 py-3 font-medium text-no">
          <WarnIcon />
          <span>{plural(result.dangerous.length, 'call that people refused or changed', 'calls that people refused or changed')} would pass.</span>
        </p>
      )}
    </>
  )
}

function Difference({ before, after }: { before: string; after: string }) {
  const parts = useMemo(() => diffLines(before, after), [before, after])
  if (before === after) return <p className="m-0 text-[0.875rem] text-faint">It is the policy in force, unchanged.</p>
  return (
    <pre tabIndex={0} aria-label="What the candidate changes" className="m-0 max-h-72 overflow-auto rounded-lg border border-line bg-well py-2 font-mono text-[0.8125rem] leading-6">
      {parts.map((part, i) => {
        const lines = part.value.replace(/\n$/, '').split('\n')
        if (!part.added && !part.removed)
          return (
            <div key={i} className="px-3 text-faint">
              {lines.length > 4 ? `${visibleText(lines[0]!)}\n  … ${lines.length - 2} lines …\n${visibleText(lines.at(-1)!)}` : visibleText(lines.join('\n'))}
            </div>
          )
        const mark = part.added ? '+' : '−'
        return (
          <div key={i} className={`px-3 ${part.added ? 'bg-added' : 'bg-removed'}`}>
            {lines.map((line) => `${mark} ${visibleText(line)}`).join('\n')}
          </div>
        )
      })}
    </pre>
  )
}

export function BacktestTab({ policy, onChanged }: { policy: Policy; onChanged: () => void }) {
  const me = useMe()
  const { text: kept, since_s, put } = useCandidate()
  const own = policy.text === null ? null : ownText(policy.text)
  const text = kept ?? own ?? starter
  const [result, setResult] = useState<{ text: string; result: BacktestResult } | null>(null)
  const [error, setError] = useState<unknown>(undefined)
  const [is_busy, setBusy] = useState(false)
  const [looked_at, setLookedAt] = useState<ReadonlySet<string>>(new Set())
  const run = async () => {
    setBusy(true)
    setError(undefined)
    try {
      setResult({ text, result: readBacktest(await client.backtest(text, since_s)) })
      setLookedAt(new Set())
    } catch (caught) {
      setResult(null)
      setError(caught)
    } finally {
      setBusy(false)
    }
  }
  const activate = async () => {
    setBusy(true)
    setError(undefined)
    try {
      // Somebody else's change must not be undone unseen.
      if ((await client.policy()).version !== policy.version) {
        onChanged()
        throw new Error('Another policy was put in force meanwhile: look again at what yours changes.')
      }
      await client.putPolicy(text, [...looked_at])
      tell('This policy judges from now on.', { tone: 'good' })
      put({ text: null })
      setResult(null)
      onChanged()
    } catch (caught) {
      setError(caught)
    } finally {
      setBusy(false)
    }
  }
  const is_tested = result?.text === text
  const open = is_tested ? result.result.dangerous.filter((one) => !looked_at.has(one.id)).length : 0
  const may_put = me.role === 'admin' && policy.origin !== 'file'
  return (
    <>
      <div className="grid gap-6 lg:grid-cols-2">
        <div className="min-w-0">
          <label htmlFor="candidate" className="label mb-1 block">
            A policy to try
          </label>
          <textarea
            id="candidate"
            className="field min-h-80 font-mono text-[0.8125rem] leading-6 [tab-size:2]"
            spellCheck={false}
            wrap="off"
            value={text}
            aria-invalid={error !== undefined}
            onChange={(event) => put({ text: event.target.value })}
          />
        </div>
        <div className="min-w-0">
          <h2 className="label mb-1">What it changes</h2>
          <Difference before={own ?? ''} after={text} />
        </div>
      </div>
      <div className="mt-4 flex flex-wrap items-end gap-3">
        <div>
          <label htmlFor="since" className="label mb-1 block">
            Against
          </label>
          <select id="since" className="field" value={since_s ?? ''} onChange={(event) => put({ since_s: event.target.value ? Number(event.target.value) : null })}>
            {spans.map(([label, seconds]) => (
              <option key={label} value={seconds ?? ''}>
                {label}
              </option>
            ))}
          </select>
        </div>
        <button type="button" className="btn" disabled={is_busy} onClick={() => void run()}>
          {is_busy ? <Spinner /> : 'Try it against the past'}
        </button>
        {kept !== null && (
          <button type="button" className="btn btn-quiet" onClick={() => (put({ text: null }), setResult(null), setError(undefined))}>
            Start over
          </button>
        )}
      </div>
      <Problem error={error} />
      {result && (
        <section className="mt-8" aria-label="Result">
          {!is_tested && <p className="mb-4 text-medium">The text has changed since; try it again.</p>}
          <Summary result={result.result} />
          <Cases result={result.result} {...(may_put && is_tested ? { chosen: looked_at, onChoose: (id: string) => setLookedAt((old) => new Set(old.has(id) ? [...old].filter((one) => one !== id) : [...old, id])) } : {})} />
          <p className="mt-3 text-[0.8125rem] text-faint">Grants and trust are left out, so it errs towards more questions. At most the last 20,000 requests are looked at.</p>
          {may_put && is_tested && (
            <div className="mt-5 flex flex-wrap items-center gap-3 border-t border-line pt-5">
              <button type="button" className="btn btn-yes" disabled={is_busy || open > 0} onClick={({ detail }) => detail < 2 && void activate()}>
                Put it in force
              </button>
              <span className="text-[0.875rem] text-soft">{open > 0 ? `Look at each of the ${plural(open, 'dangerous case')} first.` : 'It judges every call from then on. Active grants end.'}</span>
            </div>
          )}
          {me.role === 'admin' && policy.origin === 'file' && <p className="mt-4 text-[0.875rem] text-soft">The policy in force comes from a file on the server: change it there, then read it again under “In force”.</p>}
        </section>
      )}
    </>
  )
}

