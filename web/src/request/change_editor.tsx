// Changing what is asked before it is approved, by its kind. Fetched when nothing else goes on: most requests are decided as
// they are.
import { useEffect, useId, useRef } from 'react'
import { HiddenHint, hintOf } from '../ui/hidden_hint'
import { ArgumentsEditor } from './arguments_editor'
import { LinesField } from './lines_field'
import { PlanEditor } from './plan_editor'
import type { Revision } from './revision'
import type { Request } from '../wire'

type Props = {
  request: Request
  revision: Revision
  onChange: (revision: Revision) => void
  /** Steps that are left out, here as where the plan is read. */
  skipped: ReadonlySet<number>
  onSkip: (order: number) => void
}

function AnswerEditor({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => field.current?.focus({ preventScroll: true }), [])
  const id = useId()
  return (
    <>
      <LinesField ref={field} aria-label="Change the answer" aria-describedby={hintOf(id, text)} className="min-h-40 leading-6" value={text} onChange={onChange} />
      <HiddenHint id={id} text={text} />
    </>
  )
}

export default function ChangeEditor({ request, revision, onChange, skipped, onSkip }: Props) {
  if (request.action) return <ArgumentsEditor original={request.action.arguments} value={revision.arguments} onChange={(value, is_valid) => onChange({ ...revision, arguments: value, is_valid })} />
  if (request.plan) return <PlanEditor steps={revision.steps} skipped={skipped} onSkip={onSkip} onChange={(steps) => onChange({ ...revision, steps })} />
  return <AnswerEditor text={revision.text} onChange={(text) => onChange({ ...revision, text })} />
}
