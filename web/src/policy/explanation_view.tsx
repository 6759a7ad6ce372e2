// Why policy says what it says: the verdict, every rule that took part, and those that nearly did.
import { visibleText } from '../model/marked_text'
import { verdictWord, type Explained } from '../model/policy'
import { JsonView } from '../ui/json_view'
import { riskColor } from '../ui/parts'
import { SafeText } from '../ui/safe_text'

const tone = { allow: 'text-yes', hold: 'text-medium', deny: 'text-no' }

const effectWord: Record<string, string> = { allow: 'lets it pass', require: 'asks people', deny: 'denies it' }

/** Some lines of the policy, as they stand there. */
export function SourceLines({ text, from, to, marked = 0 }: { text: string; from: number; to: number; marked?: number }) {
  const lines = text.split('\n').slice(from - 1, to)
  return (
    <pre tabIndex={0} className="m-0 overflow-x-auto rounded-lg border border-line bg-well py-2 font-mono text-[0.8125rem] leading-6" aria-label={`Lines ${from} to ${to} of the policy`}>
      {lines.map((line, i) => (
        <div key={i} data-line={from + i} className={`w-max min-w-full px-3 ${from + i === marked ? 'bg-medium-wash' : ''}`}>
          <span aria-hidden="true" className="mr-4 inline-block w-8 select-none text-right text-faint">
            {from + i}
          </span>
          {visibleText(line)}
        </div>
      ))}
    </pre>
  )
}

function Id({ name, line, onLine }: { name: string; line: number; onLine?: ((line: number) => void) | undefined }) {
  const shown = <span className="font-mono">{visibleText(name)}</span>
  if (!onLine || line <= 0) return shown
  return (
    <button type="button" className="btn-link" onClick={() => onLine(line)}>
      {shown} <span className="text-[0.8125rem]">line {line}</span>
    </button>
  )
}

export function ExplanationView({ said, onLine }: { said: Explained; onLine?: (line: number) => void }) {
  const has_values = Object.keys(said.values).length > 0
  return (
    <div className="text-[0.9375rem]">
      <p className="m-0">
        <span className={`text-[1.0625rem] font-semibold ${tone[said.kind]}`}>{verdictWord[said.kind]}</span>
        <span className={`ml-3 ${riskColor[said.risk]}`}>{said.risk} risk</span>
      </p>
      {said.because && (
        <p className="foreign m-0 mt-1">
          <SafeText text={said.because} />
        </p>
      )}
      {said.approvals.length > 0 && (
        <p className="foreign m-0 mt-1 text-soft">
          Decided by {said.approvals.map(([group, count]) => `${count > 1 ? `${count} of ` : ''}${visibleText(group || 'any approver')}`).join(' and ')}
        </p>
      )}
      {said.matched.length > 0 && (
        <div className="mt-3">
          <h3 className="label mb-1">What took part</h3>
          <ul className="m-0 list-none p-0">
            {said.matched.map((one, i) => (
              <li key={i} className="foreign border-t border-line py-1.5">
                <span className="text-faint">{one.kind}</span> <Id name={one.id} line={one.line} onLine={onLine} /> {effectWord[one.effect] ?? one.effect}
                {one.hard && <span className="text-soft">, always</span>}
                {one.error && <span className="text-no">, because it failed</span>}
              </li>
            ))}
          </ul>
        </div>
      )}
      {said.near.length > 0 && (
        <div className="mt-3">
          <h3 className="label mb-1">What nearly did</h3>
          <ul className="m-0 list-none p-0">
            {said.near.map((one, i) => (
              <li key={i} className="foreign border-t border-line py-1.5">
                <span className="text-faint">rule</span> <Id name={one.id} line={one.line} onLine={onLine} /> did not, because{' '}
                <code className="font-mono text-[0.875rem]">{visibleText(one.error ?? one.first_false ?? one.unless ?? '')}</code> {one.error ? 'failed' : one.unless ? 'is true' : 'is false'}
              </li>
            ))}
          </ul>
        </div>
      )}
      {said.shell?.opaque && <p className="foreign m-0 mt-3 text-high">The command cannot be read with certainty{said.shell.reason ? `: ${visibleText(said.shell.reason)}` : ''}.</p>}
      {has_values && (
        <div className="mt-3">
          <h3 className="label mb-1">Values that conditions read</h3>
          <JsonView value={said.values} />
        </div>
      )}
    </div>
  )
}
