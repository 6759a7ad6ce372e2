// Arguments, exactly as they run: every name and every value, with types told apart.
import { useState } from 'react'
import { members_max } from '../model/fold'
import { entriesOf, isObject } from '../model/json'
import { countMarks } from '../model/marked_text'
import { isMaskable, isSecretName, isTooMuch, mask } from '../model/secrets'
import { plural } from '../model/words'
import type { Json, JsonObject } from '../wire'
import { LongText, SafeText } from './safe_text'

function Quoted({ text }: { text: string }) {
  return (
    <span className="foreign">
      <span className="text-faint">"</span>
      <LongText text={text} is_exact />
      <span className="text-faint">"</span>
    </span>
  )
}

/** What a secret name makes of its value; `much` is shown before it is decided. */
type Secrecy = false | 'masked' | 'much'

const secrecyOf = (name: string, value: Json): Secrecy => isSecretName(name) && (isTooMuch(value) ? 'much' : 'masked')

function SecretValue({ value, is_much }: { value: string | number; is_much: boolean }) {
  const [is_shown, show] = useState(false)
  const [was_shown, note] = useState(!is_much)
  const text = String(value)
  const marks = countMarks(text)
  return (
    <span className="foreign">
      {is_shown ? <Leaf value={value} is_secret={false} /> : <span className="text-soft">{mask}</span>}{' '}
      <span className="font-sans text-[0.8125rem] text-faint">
        {plural(text.length, 'character')}
        {marks > 0 && `, ${marks} marked`}
      </span>{' '}
      <button
        type="button"
        data-covered={was_shown ? undefined : 'masked'}
        className="btn-link font-sans text-[0.8125rem]"
        onClick={() => {
          show(!is_shown)
          note(true)
        }}
      >
        {is_shown ? 'hide' : 'show'}
      </button>
    </span>
  )
}

function Leaf({ value, is_secret }: { value: Json; is_secret: Secrecy }) {
  if (is_secret && isMaskable(value)) return <SecretValue value={value} is_much={is_secret === 'much'} />
  if (typeof value === 'string') return <Quoted text={value} />
  if (isObject(value)) return <span className="text-faint">{'{ }'}</span>
  if (Array.isArray(value)) return <span className="text-faint">[ ]</span>
  return <span className={value === null ? 'text-faint' : 'font-semibold'}>{String(value)}</span>
}

const isLeaf = (value: Json): boolean => typeof value !== 'object' || value === null || Object.keys(value).length === 0

/** What stands under a secret name is secret as a whole. */
function Members({ value, is_secret }: { value: JsonObject | Json[]; is_secret: Secrecy }) {
  const [shown, show] = useState(members_max)
  const all: [string, Json][] = Array.isArray(value) ? value.map((item, i) => [String(i), item]) : entriesOf(value)
  const names = all.map(([name]) => name.length)
  // Short names get a column of their own; long ones would leave no room for the values.
  const width = Math.min(Math.max(...names, 3), 22)
  return (
    <dl className="m-0 grid gap-y-1">
      {all.slice(0, shown).map(([name, item], i) => (
        <div key={i} className={isLeaf(item) ? 'flex flex-wrap gap-x-4 sm:flex-nowrap' : ''}>
          <dt className="shrink-0 text-soft sm:min-w-(--name)" style={{ ['--name' as string]: `${width}ch` }}>
            <SafeText text={name} is_exact />
          </dt>
          <dd className={isLeaf(item) ? 'm-0 min-w-0 flex-1 basis-40' : 'm-0 mt-1 border-l border-line pl-4'}>
            <Value value={item} is_secret={is_secret || secrecyOf(name, item)} />
          </dd>
        </div>
      ))}
      {all.length > shown && (
        <div>
          <dt className="sr-only">more</dt>
          <dd className="m-0">
            <button type="button" data-covered="folded" className="btn-link font-sans text-[0.8125rem]" onClick={() => show(shown + 500)}>
              {plural(all.length - shown, 'more member')}, {plural(countMarks(JSON.stringify(all.slice(shown))), 'mark')}
            </button>
          </dd>
        </div>
      )}
    </dl>
  )
}

function Value({ value, is_secret }: { value: Json; is_secret: Secrecy }) {
  return isLeaf(value) ? <Leaf value={value} is_secret={is_secret} /> : <Members value={value as JsonObject} is_secret={is_secret} />
}

/** A value; under a `name` that promises a secret it is masked like one. */
export function JsonView({ value, name = '' }: { value: Json; name?: string }) {
  return (
    <div className="font-mono text-[0.875rem] leading-6">
      <Value value={value} is_secret={secrecyOf(name, value)} />
    </div>
  )
}
