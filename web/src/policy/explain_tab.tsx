// What policy would say about a call, without proposing it.
import { useState, type FormEvent } from 'react'
import { client } from '../client'
import { beginning } from '../model/fold'
import { visibleJson } from '../model/hidden'
import { isObject } from '../model/json'
import { parseTyped } from '../model/typed'
import { visibleText } from '../model/marked_text'
import { callOf, readExplained, type Explained } from '../model/policy'
import { titleOf } from '../model/words'
import { useLoad } from '../state/load'
import { Problem, Spinner } from '../ui/parts'
import type { JsonObject } from '../wire'
import { useCandidate } from './candidate'
import { ExplanationView } from './explanation_view'

const example = '{\n  "tool": "process_refund",\n  "args": {"orderId": "1234", "amount": 24}\n}'

export function ExplainTab() {
  const [text, setText] = useState(example)
  const [is_candidate, setCandidate] = useState(false)
  const candidate = useCandidate((state) => state.text)
  const [said, setSaid] = useState<Explained | null>(null)
  const [error, setError] = useState<unknown>(undefined)
  const [is_busy, setBusy] = useState(false)
  const recent = useLoad('recent calls', () => client.list({ limit: '30' }), { fresh_ms: 10_000 })
  const read = parseTyped(text)
  const wrong = 'error' in read ? read.error : isObject(read.value) ? null : 'a call is an object'
  const ask = async (event: FormEvent) => {
    event.preventDefault()
    if ('error' in read || wrong) return
    setBusy(true)
    setError(undefined)
    try {
      const answer = await client.explain(read.value as JsonObject, is_candidate && candidate !== null ? candidate : undefined)
      setSaid(readExplained(answer.verdict))
    } catch (caught) {
      setSaid(null)
      setError(caught)
    } finally {
      setBusy(false)
    }
  }
  const take = (id: string) => {
    const request = recent.data?.requests.find((one) => one.id === id)
    if (!request) return
    setText(visibleJson(callOf(request)))
    setSaid(null)
  }
  return (
    <div className="grid gap-8 lg:grid-cols-2">
      <form className="min-w-0" onSubmit={ask}>
        <label htmlFor="recent" className="label mb-1 block">
          Start from a request
        </label>
        <select id="recent" className="field mb-4" value="" onChange={(event) => take(event.target.value)}>
          <option value="">choose…</option>
          {recent.data?.requests.map((request) => (
            <option key={request.id} value={request.id}>
              {visibleText(beginning(titleOf(request).split('\n', 1)[0]!, 90))}
            </option>
          ))}
        </select>
        <label htmlFor="call" className="label mb-1 block">
          The call
        </label>
        <textarea id="call" className="field min-h-64 font-mono text-[0.875rem] leading-6" spellCheck={false} value={text} aria-invalid={wrong !== null} aria-describedby="call-hint" onChange={(event) => setText(event.target.value)} />
        <p id="call-hint" className={`foreign m-0 mt-1 text-[0.8125rem] ${wrong ? 'text-no' : 'text-faint'}`}>
          {wrong ? visibleText(wrong) : 'tool and args; also context (agent, user, session, claims, cost), counters, grants and now'}
        </p>
        {candidate !== null && (
          <label className="mt-3 flex cursor-pointer items-center gap-2">
            <input type="checkbox" className="size-4 accent-accent" checked={is_candidate} onChange={(event) => setCandidate(event.target.checked)} />
            With the policy under “Try another”
          </label>
        )}
        <button type="submit" className="btn btn-yes mt-4" disabled={wrong !== null || is_busy}>
          {is_busy ? <Spinner /> : 'Explain'}
        </button>
      </form>
      <section aria-label="What policy says" aria-live="polite" className="min-w-0 rounded-xl border border-line bg-sheet p-5">
        <h2 className="sr-only">What policy says</h2>
        <Problem error={error} />
        {said ? <ExplanationView said={said} /> : error === undefined && <p className="m-0 text-soft">The verdict appears here, with every rule that took part and those that nearly did. Nothing is proposed and nothing runs.</p>}
      </section>
    </div>
  )
}
