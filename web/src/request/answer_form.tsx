// The six kinds of question.
import { useId, useRef, useState, type KeyboardEvent } from 'react'
import { draftFor, file_bytes_max, fileName, type Draft, type FileAnswer } from '../model/answer'
import { visibleText } from '../model/marked_text'
import { HiddenHint, hintOf } from '../ui/hidden_hint'
import { SafeText } from '../ui/safe_text'
import type { Input } from '../wire'

/** What stands in a field of the form but is no value: a day that is half typed, or that no month has. */
export const isHalf = (form: HTMLElement | null): boolean => form?.querySelector<HTMLInputElement>('input[data-answer]')?.validity.badInput ?? false

type Props = { input: Input; draft: Draft; error: string | null; onChange: (draft: Draft) => void; onSubmit: () => void }

async function readFile(file: File): Promise<FileAnswer> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return { name: fileName(file.name), media_type: file.type || 'application/octet-stream', content_base64: btoa(binary) }
}

function Choices({ input, draft, onChange, onSubmit, id, is_many }: Props & { id: string; is_many: boolean }) {
  const toggle = (option: string) => {
    if (!is_many) return onChange({ ...draft, chosen: [option] })
    const chosen = draft.chosen.includes(option) ? draft.chosen.filter((one) => one !== option) : [...draft.chosen, option]
    onChange({ ...draft, chosen })
  }
  return (
    <div className="grid gap-1">
      {(input.options ?? []).map((option, i) => (
        <label key={i} className="flex min-h-11 cursor-pointer items-center gap-3 rounded-lg border border-line bg-sheet px-3.5 py-2 hover:bg-well has-checked:border-accent has-checked:bg-pick">
          <input type={is_many ? 'checkbox' : 'radio'} name={id} data-answer={i === 0 || undefined} className="size-4 shrink-0 accent-accent" checked={draft.chosen.includes(option)} onChange={() => toggle(option)} onKeyDown={(event) => event.key === 'Enter' && !event.repeat && onSubmit()} />
          <span className="foreign min-w-0">
            <SafeText text={option} />
          </span>
        </label>
      ))}
    </div>
  )
}

type Shared = { id: string; 'aria-label': string; 'aria-invalid': boolean; 'aria-describedby': string; 'data-answer': true }

function FileField({ draft, onChange, shared }: { draft: Draft; onChange: Props['onChange']; shared: Shared }) {
  const [problem, setProblem] = useState<string | null>(null)
  const chosen = useRef<File>(undefined)
  const take = async (file: File | undefined) => {
    const is_large = file !== undefined && file.size > file_bytes_max
    setProblem(is_large ? `${visibleText(file.name)} has ${Math.ceil(file.size / 1024)} KiB; at most ${file_bytes_max / 1024} KiB can be sent.` : null)
    chosen.current = file
    // While it is being read nothing is the answer, least of all the file that was chosen before.
    const is_taken = file !== undefined && !is_large
    onChange({ ...draft, file: is_taken ? 'reading' : is_large ? 'refused' : null })
    if (!is_taken) return
    // It may have gone since it was chosen, or be a folder.
    const content = await readFile(file).catch(() => null)
    if (chosen.current !== file) return
    if (!content) setProblem(`${visibleText(file.name)} could not be read.`)
    onChange({ ...draft, file: content ?? 'refused' })
  }
  const problem_id = `${shared.id}-problem`
  return (
    <>
      <input {...shared} type="file" aria-invalid={shared['aria-invalid'] || problem !== null} aria-describedby={problem ? `${problem_id} ${shared['aria-describedby']}` : shared['aria-describedby']} className="field py-1.5 file:mr-3 file:rounded-md file:border-0 file:bg-well file:px-3 file:py-1 file:text-ink" onChange={(event) => void take(event.target.files?.[0])} />
      {/* There before it says anything: what comes together with its words is not announced everywhere. */}
      <p role="status" className="m-0 mt-1 text-[0.875rem] text-faint">
        {draft.file && typeof draft.file === 'object' && (
          <>
            <SafeText text={draft.file.name} /> is your answer.
          </>
        )}
      </p>
      {problem && (
        <p id={problem_id} role="alert" className="m-0 mt-1 text-[0.875rem] text-no">
          {problem}
        </p>
      )}
    </>
  )
}

function limitsOf(input: Input): string {
  const { min, max } = input
  if (typeof min === 'number' && typeof max === 'number') return `between ${min} and ${max}`
  if (typeof min === 'number') return `at least ${min}`
  if (typeof max === 'number') return `at most ${max}`
  if (typeof input.max_length === 'number') return `at most ${input.max_length} bytes`
  return ''
}

export function AnswerForm(props: Props) {
  const { input, draft, error, onChange, onSubmit } = props
  const id = useId()
  /** A file field forgets what was chosen only by being made anew. */
  const [cleared, clear] = useState(0)
  const hint = [limitsOf(input), input.required ? '' : 'may stay empty'].filter(Boolean).join(' · ')
  const shared: Shared = {
    id,
    'aria-label': 'Your answer',
    'aria-invalid': error !== null,
    'aria-describedby': [`${id}-hint`, hintOf(id, draft.text)].filter(Boolean).join(' '),
    'data-answer': true,
  }
  const placeholder = visibleText(input.placeholder ?? '')
  const text = (event: { target: { value: string } }) => onChange({ ...draft, text: event.target.value })
  const onEnter = (event: KeyboardEvent) => event.key === 'Enter' && !event.repeat && !event.nativeEvent.isComposing && (input.type !== 'text' || event.ctrlKey || event.metaKey) && onSubmit()
  let control
  switch (input.type) {
    case 'text':
      control = <textarea {...shared} placeholder={placeholder} className="field min-h-24" value={draft.text} onChange={text} onKeyDown={onEnter} />
      break
    case 'number':
      control = <input {...shared} placeholder={placeholder} className="field max-w-60 font-mono" inputMode="decimal" autoComplete="off" value={draft.text} onChange={text} onKeyDown={onEnter} />
      break
    case 'date':
      control = <input {...shared} className="field max-w-60" type="date" value={draft.text} onChange={text} onKeyDown={onEnter} />
      break
    case 'choice':
    case 'multi_choice':
      control = <Choices {...props} id={id} is_many={input.type === 'multi_choice'} />
      break
    case 'file':
      control = <FileField key={cleared} draft={draft} onChange={onChange} shared={shared} />
      break
  }
  // What the agent put there is marked as long as it stands there.
  const given = draftFor(input)
  const is_given = input.default != null && (given.text !== '' || given.chosen.length > 0) && JSON.stringify(given) === JSON.stringify(draft)
  const is_list = input.type === 'choice' || input.type === 'multi_choice'
  return (
    <div role={is_list ? 'group' : undefined} aria-label={is_list ? 'Your answer' : undefined} aria-describedby={is_list ? `${id}-hint` : undefined}>
      {input.type === 'file' && (
        <label htmlFor={id} className="label mb-1 block">
          Your answer
        </label>
      )}
      {control}
      {!is_list && <HiddenHint id={id} text={draft.text} />}
      <div className="mb-2 mt-1.5 flex items-baseline gap-3 text-[0.875rem]">
        <p id={`${id}-hint`} role={error ? 'alert' : undefined} className={`m-0 min-h-5 ${error ? 'text-no' : 'text-faint'}`}>
          {error ?? (
            <>
              {is_given && <b className="font-medium text-medium">filled in by the agent{hint && ' · '}</b>}
              {hint}
            </>
          )}
        </p>
        {!input.required && (draft.chosen.length > 0 || draft.file) && (
          <button
            type="button"
            className="btn-link"
            onClick={() => {
              clear(cleared + 1)
              onChange({ text: '', chosen: [], file: null })
            }}
          >
            Clear
          </button>
        )}
      </div>
    </div>
  )
}
