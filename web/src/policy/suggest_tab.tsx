// Rules that people kept answering the same way. Nothing applies them by itself.
import { useState } from 'react'
import { Link } from 'wouter'
import { client } from '../client'
import { visibleText } from '../model/marked_text'
import { readBacktest } from '../model/policy'
import { ownText } from '../model/policy_text'
import { plural } from '../model/words'
import { useLoad } from '../state/load'
import { tell } from '../state/notices'
import { CopyButton, Problem, Spinner } from '../ui/parts'
import type { Policy, Suggestions } from '../wire'
import { starter } from './backtest_tab'
import { useCandidate, withRule } from './candidate'

type Suggestion = Suggestions['suggestions'][number]

function One({ suggestion, policy, onTake }: { suggestion: Suggestion; policy: Policy; onTake: () => void }) {
  const { text, put } = useCandidate()
  const [shows_all, showAll] = useState(false)
  const result = readBacktest(suggestion.backtest)
  const evidence = shows_all ? suggestion.evidence : suggestion.evidence.slice(0, 5)
  const take = () => {
    const next = withRule(text ?? (policy.text === null ? starter : ownText(policy.text)), suggestion.yaml)
    if (next === null) return tell('The rules of this policy stand in one line; copy the suggestion instead.', { tone: 'bad' })
    put({ text: next })
    onTake()
  }
  return (
    <li className="mb-5 rounded-xl border border-line bg-sheet p-5">
      <p className="m-0 mb-2">
        <b>{plural(result.prompts_saved, 'question')} less</b> <span className="text-soft">out of {plural(result.calls, 'call')}; it rests on {plural(suggestion.approvals, 'approval')} by people{result.dangerous.length === 0 ? ', and lets nothing pass that they refused.' : '.'}</span>
      </p>
      {result.dangerous.length > 0 && <p className="m-0 mb-2 font-medium text-no">{plural(result.dangerous.length, 'refused call')} would pass.</p>}
      <pre tabIndex={0} aria-label={`Suggested rule ${visibleText(suggestion.id)}`} className="m-0 overflow-x-auto rounded-lg border border-line bg-well px-4 py-3 font-mono text-[0.8125rem] leading-6">
        {visibleText(suggestion.yaml)}
      </pre>
      <p className="mb-3 mt-2 flex flex-wrap items-baseline gap-x-3 gap-y-1 text-[0.875rem] text-soft">
        For example
        {evidence.map((id, i) => (
          <Link key={id} href={`/r/${id}`} className="btn-link">
            request {i + 1}
          </Link>
        ))}
        {suggestion.evidence.length > 5 && !shows_all && (
          <button type="button" className="btn-link" onClick={() => showAll(true)}>
            and {suggestion.evidence.length - 5} more
          </button>
        )}
      </p>
      <div className="flex flex-wrap gap-2">
        <button type="button" className="btn" onClick={take}>
          Try it with the policy
        </button>
        <CopyButton text={suggestion.yaml} />
      </div>
    </li>
  )
}

export function SuggestTab({ policy, onTake }: { policy: Policy; onTake: () => void }) {
  const { data, error, is_loading } = useLoad(`suggestions ${policy.version}`, () => client.suggest(null), { fresh_ms: 30_000 })
  return (
    <>
      <p className="mb-5 mt-0 max-w-2xl text-soft">What people approved again and again could pass by itself. Each of these is the narrowest rule that covers what they saw.</p>
      <Problem error={error} />
      {is_loading && <Spinner />}
      {data?.suggestions.length === 0 && (
        <div className="py-10 text-center">
          <h2 className="text-lg">Nothing to suggest</h2>
          <p className="mt-2 text-soft">It takes at least five approvals of one kind, and none that people refused or changed.</p>
        </div>
      )}
      <ul className="m-0 list-none p-0">
        {data?.suggestions.map((suggestion) => (
          <One key={suggestion.id} suggestion={suggestion} policy={policy} onTake={onTake} />
        ))}
      </ul>
    </>
  )
}
