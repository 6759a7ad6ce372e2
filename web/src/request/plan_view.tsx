// A plan: read it, and leave out optional steps.
import { formatSpan } from '../model/time'
import { LongText, SafeText } from '../ui/safe_text'
import type { Plan } from '../wire'

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
