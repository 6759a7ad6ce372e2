// A plan: read it, leave out optional steps, or change, move, remove and add steps.
import { useId } from 'react'
import { formatSpan } from '../model/time'
import { CloseIcon, DownIcon, UpIcon } from '../ui/icons'
import { LongText, SafeText } from '../ui/safe_text'
import type { Plan } from '../wire'

export type Step = Plan['steps'][number]

/** A plan to read; optional steps have a box to leave them out. */
export function PlanView({ plan, skipped, onSkip }: { plan: Plan; skipped: ReadonlySet<number>; onSkip: ((order: number) => void) | null }) {
  return (
    <>
      <ol className="m-0 list-none p-0">
        {plan.steps.map((step, i) => {
          const is_out = skipped.has(step.order) || step.approved === false
          return (
            <li key={step.order} className="flex gap-3 border-b border-line py-2.5 last:border-0">
              <span className="tabular w-6 shrink-0 text-right text-faint">{i + 1}</span>
              <div className={`min-w-0 flex-1 ${is_out ? 'text-faint line-through' : ''}`}>
                <p className="foreign m-0">
                  <LongText text={step.action} />
                </p>
                {step.tool && (
                  <p className="foreign m-0 font-mono text-[0.8125rem] text-soft">
                    <SafeText text={step.tool} />
                  </p>
                )}
                {step.description && (
                  <p className="foreign m-0 text-[0.875rem] text-soft">
                    <LongText text={step.description} />
                  </p>
                )}
              </div>
              {step.optional &&
                (onSkip ? (
                  <label className="flex min-h-6 shrink-0 cursor-pointer items-center gap-2 text-[0.875rem] text-soft">
                    <input type="checkbox" className="size-4 accent-accent" checked={!is_out} onChange={() => onSkip(step.order)} />
                    <span>
                      optional<span className="sr-only"> step {i + 1}</span>
                    </span>
                  </label>
                ) : (
                  <span className="text-[0.875rem] text-faint">optional</span>
                ))}
            </li>
          )
        })}
      </ol>
      {plan.estimated_duration_s != null && <p className="m-0 mt-2 text-[0.875rem] text-soft">The agent expects it to take {formatSpan(plan.estimated_duration_s * 1000)}.</p>}
    </>
  )
}

type EditorProps = { steps: Step[]; onChange: (steps: Step[]) => void }

export function PlanEditor({ steps, onChange }: EditorProps) {
  const id = useId()
  const put = (i: number, part: Partial<Step>) => onChange(steps.map((step, at) => (at === i ? { ...step, ...part } : step)))
  const move = (i: number, by: number) => {
    const next = [...steps]
    const [step] = next.splice(i, 1)
    next.splice(i + by, 0, step!)
    onChange(next)
  }
  return (
    <>
      <ol className="m-0 grid list-none gap-2 p-0">
        {steps.map((step, i) => (
          <li key={step.order} className="flex items-center gap-1.5">
            <span className="tabular w-6 shrink-0 text-right text-faint">{i + 1}</span>
            <label htmlFor={`${id}-${step.order}`} className="sr-only">
              Step {i + 1}
            </label>
            <input id={`${id}-${step.order}`} className="field min-w-0 flex-1" value={step.action} onChange={(event) => put(i, { action: event.target.value })} />
            <button type="button" className="btn btn-quiet px-2" aria-label={`Move step ${i + 1} up`} disabled={i === 0} onClick={() => move(i, -1)}>
              <UpIcon />
            </button>
            <button type="button" className="btn btn-quiet px-2" aria-label={`Move step ${i + 1} down`} disabled={i === steps.length - 1} onClick={() => move(i, 1)}>
              <DownIcon />
            </button>
            <button type="button" className="btn btn-quiet px-2" aria-label={`Remove step ${i + 1}`} disabled={steps.length === 1} onClick={() => onChange(steps.filter((_, at) => at !== i))}>
              <CloseIcon />
            </button>
          </li>
        ))}
      </ol>
      <button
        type="button"
        className="btn-link mt-3 text-[0.875rem]"
        onClick={() => onChange([...steps, { order: Math.max(...steps.map((step) => step.order)) + 1, action: '', optional: false }])}
      >
        Add a step
      </button>
    </>
  )
}
