// Changing, moving, removing and adding the steps of a plan.
import { useEffect, useId, useRef } from 'react'
import { HiddenHint, hintOf } from '../ui/hidden_hint'
import { CloseIcon, DownIcon, UpIcon } from '../ui/icons'
import { LinesField } from './lines_field'
import { StepBox, StepDetails } from './plan_view'
import type { Step } from './revision'

type EditorProps = { steps: Step[]; skipped: ReadonlySet<number>; onChange: (steps: Step[]) => void; onSkip: (order: number) => void }

export function PlanEditor({ steps, skipped, onChange, onSkip }: EditorProps) {
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
  const left = steps.filter((step) => !skipped.has(step.order)).length
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
          <li key={step.order} data-step={step.order} className="flex flex-wrap items-start justify-end gap-x-1.5 sm:flex-nowrap">
            <span className="tabular w-6 shrink-0 pt-2 text-right text-faint">{i + 1}</span>
            <label htmlFor={`${id}-${step.order}`} className="sr-only">
              Step {i + 1}
            </label>
            <div className="min-w-0 flex-1 basis-[calc(100%-2rem)] sm:basis-0">
              <LinesField id={`${id}-${step.order}`} data-on="text" aria-describedby={hintOf(`${id}-${step.order}`, step.action)} className={skipped.has(step.order) ? 'text-faint line-through' : ''} value={step.action} onChange={(action) => put(i, { action })} />
              <HiddenHint id={`${id}-${step.order}`} text={step.action} />
              <StepDetails step={step} />
              {step.optional && <StepBox number={i + 1} is_out={skipped.has(step.order)} is_last={left === 1} onSkip={() => onSkip(step.order)} />}
            </div>
            <button type="button" data-on="up" className="btn btn-quiet px-2" aria-label={`Move step ${i + 1} up`} disabled={i === 0} onClick={() => move(i, -1)}>
              <UpIcon />
            </button>
            <button type="button" data-on="down" className="btn btn-quiet px-2" aria-label={`Move step ${i + 1} down`} disabled={i === steps.length - 1} onClick={() => move(i, 1)}>
              <DownIcon />
            </button>
            <button type="button" className="btn btn-quiet px-2" aria-label={`Remove step ${i + 1}`} disabled={steps.length === 1 || (left === 1 && !skipped.has(step.order))} onClick={() => remove(i)}>
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
