// What is asked, by its kind: the part of the screen that must be read before deciding.
import { useMemo } from 'react'
import { suggestedDraft, type Draft } from '../model/answer'
import { beginning } from '../model/fold'
import { markedPieces, visibleText } from '../model/marked_text'
import { maskSecrets } from '../model/secrets'
import { isPlainCall } from '../model/words'
import { JsonView } from '../ui/json_view'
import { LongText, SafeText } from '../ui/safe_text'
import type { Json, Request } from '../wire'
import { AnswerForm } from './answer_form'
import { PlanView } from './plan_view'

type Props = {
  request: Request
  /** As somebody changed it and is about to approve it. */
  is_revised: boolean
  draft: Draft
  draft_error: string | null
  onDraft: (draft: Draft) => void
  onAnswer: () => void
  skipped: ReadonlySet<number>
  onSkip: ((order: number) => void) | null
  can_answer: boolean
}

function Title({ children }: { children: string }) {
  return <h2 className="label mb-1.5">{children}</h2>
}

const legend_max = 6
const looked_at = { texts: 200, characters: 4000, of_a_word: 40 }

function textsOf(value: Json): string[] {
  if (typeof value === 'string') return [value]
  return value && typeof value === 'object' ? Object.entries(value).flatMap(([name, item]) => [name, ...textsOf(item)]) : []
}

/** The marked words of a value that are not masked, each with its reason, once. */
function marksOf(value: Json): [string, string][] {
  const marks = new Map<string, string>()
  for (const text of textsOf(maskSecrets(value)).slice(0, looked_at.texts))
    for (const piece of markedPieces(beginning(text, looked_at.characters)))
      if (piece.kind === 'danger' || piece.kind === 'mixed') marks.set(beginning(piece.text.trim(), looked_at.of_a_word), piece.kind === 'danger' ? piece.what : 'has letters of two alphabets')
  return [...marks]
}

/** Why words are underlined: the marks alone tell it only to a mouse. */
function Legend({ id, value }: { id: string; value: Json }) {
  const marks = useMemo(() => marksOf(value), [value])
  return (
    <p id={id} className="m-0 mt-1.5 text-[0.8125rem] text-soft empty:hidden">
      {marks.slice(0, legend_max).map(([word, why], i) => (
        <span key={i} className="foreign">
          {i > 0 && ' · '}
          <span className="font-mono">{visibleText(word)}</span> {why}
        </span>
      ))}
      {marks.length > legend_max && ` · and ${marks.length - legend_max} more`}
    </p>
  )
}

/** Never filled in by itself: whoever answers says it, and not the agent. */
function Suggestion({ request, onTake }: { request: Request; onTake: ((draft: Draft) => void) | null }) {
  const suggested = request.suggested as Json
  const draft = suggestedDraft(request.input!, suggested)
  return (
    <div className="mt-3 flex flex-wrap items-baseline gap-x-3 gap-y-1 border-l-2 border-line pl-4">
      <span className="text-soft">The agent suggests:</span>
      <span className="foreign min-w-0">{draft ? <LongText text={draft.chosen.join(', ')} /> : <JsonView value={suggested} />}</span>
      {draft && onTake && (
        <button type="button" className="btn min-h-9" onClick={() => onTake(draft)}>
          Fill it in
        </button>
      )}
    </div>
  )
}

export function Subject(props: Props) {
  const { request, is_revised, draft, draft_error, onDraft, onAnswer, skipped, onSkip, can_answer } = props
  switch (request.kind) {
    case 'action':
      return (
        <>
          <Title>{request.state === 'pending' ? 'Exactly what will run' : request.release ? 'What was released' : 'What was asked'}</Title>
          <div role="group" aria-label="Arguments" aria-describedby={`${request.id}-marks`} className="overflow-x-auto rounded-lg border border-line bg-well px-4 py-3.5">
            {/* The headline above already is the tool's name when the server has no sentence for it. */}
            {!isPlainCall(request) && (
              <p className="foreign m-0 mb-2 font-mono text-[0.875rem] font-semibold">
                <SafeText text={request.action!.tool} />
              </p>
            )}
            {Object.keys(request.action!.arguments).length ? (
              <JsonView value={request.action!.arguments} />
            ) : (
              <p className="m-0 text-[0.875rem] text-faint">no arguments</p>
            )}
          </div>
          <Legend id={`${request.id}-marks`} value={request.action!.arguments} />
        </>
      )
    case 'plan':
      return (
        <>
          <Title>{`${request.plan!.steps.length} steps, in this order`}</Title>
          <PlanView plan={request.plan!} skipped={skipped} onSkip={onSkip} />
        </>
      )
    case 'input':
      return (
        <>
          {can_answer && <AnswerForm input={request.input!} draft={draft} error={draft_error} onChange={onDraft} onSubmit={onAnswer} />}
          {request.suggested != null && <Suggestion request={request} onTake={can_answer ? onDraft : null} />}
        </>
      )
    case 'confirmation':
      return request.confirmation!.details ? (
        <>
          <Title>Details</Title>
          <p className="foreign m-0 rounded-lg border border-line bg-well px-4 py-3.5">
            <LongText text={request.confirmation!.details} />
          </p>
        </>
      ) : null
    case 'response':
      return (
        <>
          <Title>{is_revised ? 'The answer, as you changed it' : 'The answer it wants to give'}</Title>
          <p className={`foreign m-0 rounded-lg border border-line bg-well px-5 py-4 leading-6 ${request.response!.format === 'markdown' ? 'font-mono text-[0.875rem]' : ''}`}>
            <LongText text={request.response!.text} />
          </p>
        </>
      )
  }
}

/** The answer somebody gave to a question. */
export function AnswerView({ answer }: { answer: Json }) {
  if (answer && typeof answer === 'object' && !Array.isArray(answer) && typeof answer['content_base64'] === 'string') {
    const size = Math.floor((answer['content_base64'].length * 3) / 4)
    return (
      <p className="foreign m-0">
        <SafeText text={String(answer['name'])} /> <span className="text-faint">· {Math.ceil(size / 1024)} KiB</span>
      </p>
    )
  }
  return <JsonView value={answer} />
}
