// A plan: read it, leave out optional steps, or change, move, remove and add steps.
import { useEffect, useId, useRef } from 'react'
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
  const list = useRef<HTMLOListElement>(null)
  // The button that was pressed may be gone, disabled or elsewhere afterwards; whoever works with the keyboard goes on from there.
  const next_focus = useRef<{ order: number; on: 'up' | 'down' | 'text' } | null>(null)
  useEffect(() => {
    const wanted = next_focus.current
    if (!wanted) return
    next_focus.current = null
    const row = list.current?.querySelector(`[data-step="${wanted.order}"]`)
    const control = row?.querySelector<HTMLElement>(`[data-on="${wanted.on}"]:not(:disabled)`) ?? row?.querySelector<HTMLElement>('button:not(:disabled)')
    control?.focus()
  })
  const put = (i: number, part: Partial<Step>) => onChange(steps.map((step, at) => (at === i ? { ...step, ...part } : step)))
  const move = (i: number, by: number) => {
    const next = [...steps]
    const [step] = next.splice(i, 1)
    next.splice(i + by, 0, step!)
    next_focus.current = { order: step!.order, on: by < 0 ? 'up' : 'down' }
    onChange(next)
  }
  const remove = (i: number) => {
    const rest = steps.filter((_, at) => at !== i)
    next_focus.current = { order: rest[Math.min(i, rest.length - 1)]!.order, on: 'text' }
    onChange(rest)
  }
  const add = () => {
    const order = Math.max(...steps.map((step) => step.order)) + 1
    next_focus.current = { order, on: 'text' }
    onChange([...steps, { order, action: '', optional: false }])
  }
  return (
    <>
      <ol ref={list} className="m-0 grid list-none gap-2 p-0">
        {steps.map((step, i) => (
          <li key={step.order} data-step={step.order} className="flex items-center gap-1.5">
            <span className="tabular w-6 shrink-0 text-right text-faint">{i + 1}</span>
            <label htmlFor={`${id}-${step.order}`} className="sr-only">
              Step {i + 1}
            </label>
            <input id={`${id}-${step.order}`} data-on="text" className="field min-w-0 flex-1" value={step.action} onChange={(event) => put(i, { action: event.target.value })} />
            <button type="button" data-on="up" className="btn btn-quiet px-2" aria-label={`Move step ${i + 1} up`} disabled={i === 0} onClick={() => move(i, -1)}>
              <UpIcon />
            </button>
            <button type="button" data-on="down" className="btn btn-quiet px-2" aria-label={`Move step ${i + 1} down`} disabled={i === steps.length - 1} onClick={() => move(i, 1)}>
              <DownIcon />
            </button>
            <button type="button" className="btn btn-quiet px-2" aria-label={`Remove step ${i + 1}`} disabled={steps.length === 1} onClick={() => remove(i)}>
              <CloseIcon />
            </button>
          </li>
        ))}
      </ol>
      <button
        type="button"
        className="btn-link mt-3 text-[0.875rem]"
        onClick={add}
      >
        Add a step
      </button>
    </>
  )
}
