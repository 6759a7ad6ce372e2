// A plan: read it, and leave out optional steps.
import { formatSpan } from '../model/time'
import { LongText, SafeText } from '../ui/safe_text'
import type { Plan } from '../wire'

/** The tool of a step, and what the agent says about it. */
export function StepDetails({ step }: { step: Plan['steps'][number] }) {
  return (
    <>
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
    </>
  )
}

/** The box of an optional step. The last one that is left stays: a plan without a step is rejected instead. */
export function StepBox({ number, is_out, is_last, onSkip }: { number: number; is_out: boolean; is_last: boolean; onSkip: () => void }) {
  return (
    <label className="flex min-h-6 shrink-0 cursor-pointer items-center gap-2 text-[0.875rem] text-soft">
      <input type="checkbox" className="size-4 accent-accent" checked={!is_out} disabled={is_last && !is_out} onChange={onSkip} />
      <span>
        run this<span className="sr-only"> optional</span> step<span className="sr-only"> {number}</span>
      </span>
    </label>
  )
}

/** A plan to read; optional steps have a box to leave them out. */
export function PlanView({ plan, skipped, onSkip }: { plan: Plan; skipped: ReadonlySet<number>; onSkip: ((order: number) => void) | null }) {
  const is_last = plan.steps.filter((step) => !skipped.has(step.order)).length === 1
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
                <StepDetails step={step} />
              </div>
              {step.optional &&
                (onSkip ? (
                  <StepBox number={i + 1} is_out={is_out} is_last={is_last} onSkip={() => onSkip(step.order)} />
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
