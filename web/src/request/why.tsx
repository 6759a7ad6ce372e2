// The rule behind a request, as it stands in the policy, and how policy came to its verdict.
import { useMemo } from 'react'
import { Link } from 'wouter'
import { client } from '../client'
import { visibleText } from '../model/marked_text'
import { callOf, readExplained } from '../model/policy'
import { readPolicyText } from '../model/policy_text'
import { ExplanationView, SourceLines } from '../policy/explanation_view'
import { useLoad } from '../state/load'
import { Problem, Spinner } from '../ui/parts'
import type { Request } from '../wire'

export default function Why({ request }: { request: Request }) {
  const { verdict } = request
  const now = useLoad('policy', client.policy, { fresh_ms: 30_000 })
  const is_same = now.data ? now.data.version === verdict.policy : null
  const then = useLoad(is_same === false && verdict.policy ? `policy ${verdict.policy}` : null, () => client.policyVersion(verdict.policy!), { fresh_ms: 600_000 })
  const text = is_same ? now.data?.text : then.data?.text
  const { documents, parts } = useMemo(() => readPolicyText(text ?? null), [text])
  const part = parts.find((one) => one.section === 'rules' && one.name === verdict.rule) ?? parts.find((one) => one.section === 'gates' && one.name === verdict.gate)
  const source = part && documents[part.document]
  const call = callOf(request)
  const explained = useLoad(now.data ? `explained ${now.data.version} ${request.id}` : null, () => client.explain(call), { fresh_ms: 60_000 })
  if (now.is_loading) return <Spinner />
  return (
    <div className="mt-4 grid gap-4">
      <Problem error={now.error ?? then.error ?? explained.error} />
      {(then.is_loading || explained.is_loading) && <Spinner />}
      {part && source && (
        <div>
          <h3 className="label mb-1">{`${part.section === 'rules' ? 'The rule' : 'The gate'}${part.document > 0 ? `, from ${visibleText(source.name)}` : ''}`}</h3>
          <SourceLines text={source.text} from={part.from} to={Math.min(part.to, part.from + 30)} />
        </div>
      )}
      {explained.data && (
        <div>
          <h3 className="label mb-1">{is_same || verdict.policy === null ? 'How it was judged' : 'How the policy now in force would judge it'}</h3>
          <ExplanationView said={readExplained(explained.data.verdict)} />
          <p className="mb-0 mt-2 text-[0.8125rem] text-faint">
            Explained again from the call itself; counters, budgets and the user’s roles at the time are not known here.{' '}
            <Link href="/policy" className="btn-link">
              The policy
            </Link>
          </p>
        </div>
      )}
    </div>
  )
}
