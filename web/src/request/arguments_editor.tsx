// Changing arguments without changing their types: a number stays a number, a switch a switch. Whoever wants to add or
// remove members edits the JSON.
import { useEffect, useId, useRef, useState } from 'react'
import { entriesOf, isObject, parseNumber, printPath, setAt, type Path } from '../model/json'
import { parseTyped } from '../model/typed'
import { visibleJson } from '../model/hidden'
import { isSecretName, isTooMuch, mask } from '../model/secrets'
import { HiddenHint, hintOf } from '../ui/hidden_hint'
import { SafeText } from '../ui/safe_text'
import type { Json, JsonObject } from '../wire'
import { LinesField } from './lines_field'

type LeafProps = { name: string; is_secret: boolean; value: Json; onChange: (value: Json | undefined) => void }

function NumberField({ id, value, onChange }: { id: string; value: number; onChange: LeafProps['onChange'] }) {
  const [text, setText] = useState(String(value))
  const read = parseNumber(text)
  const error = 'error' in read ? read.error : null
  return (
    <>
      <input
        id={id}
        className="field font-mono"
        inputMode="decimal"
        autoComplete="off"
        value={text}
        aria-invalid={error !== null}
        aria-describedby={error ? `${id}-error` : undefined}
        onChange={(event) => {
          setText(event.target.value)
          const next = parseNumber(event.target.value)
          onChange('value' in next ? next.value : undefined)
        }}
      />
      {error && (
        <p id={`${id}-error`} className="m-0 mt-1 text-[0.8125rem] text-no">
          {error}
        </p>
      )}
    </>
  )
}

function LeafEditor({ name, is_secret, value, onChange }: LeafProps) {
  const id = useId()
  // Changing the amount beside it must not show a password to whoever stands behind.
  const [is_masked, setMasked] = useState(is_secret)
  // Whoever pressed the button types next, and into the field; what the page uncovers by itself takes no focus.
  const is_pressed = useRef(false)
  useEffect(() => void (is_pressed.current && document.getElementById(id)?.focus()), [is_masked])
  const label = (
    <label htmlFor={id} className="font-mono text-[0.875rem] text-soft sm:pt-2">
      <SafeText text={name} />
    </label>
  )
  let control
  if (is_masked)
    control = (
      <button id={id} type="button" data-covered={isTooMuch(value) ? 'masked' : undefined} className="field text-left font-mono text-soft" onClick={({ nativeEvent }) => {
        is_pressed.current = nativeEvent.isTrusted
        setMasked(false)
      }}>
        {mask} <span className="underline">show and change</span>
      </button>
    )
  else if (typeof value === 'number') control = <NumberField id={id} value={value} onChange={onChange} />
  else if (typeof value === 'boolean')
    control = (
      <select id={id} className="field font-mono" value={String(value)} onChange={(event) => onChange(event.target.value === 'true')}>
        <option value="true">true</option>
        <option value="false">false</option>
      </select>
    )
  else if (typeof value === 'string') control = <LinesField id={id} aria-describedby={hintOf(id, value)} className="font-mono" spellCheck={false} autoComplete="off" value={value} onChange={onChange} />
  else control = <input id={id} className="field font-mono text-faint" readOnly value={value === null ? 'null' : Array.isArray(value) ? '[ ]' : '{ }'} />
  return (
    <div className="grid grid-cols-1 gap-x-4 gap-y-1 sm:grid-cols-[minmax(6rem,12rem)_1fr]">
      {label}
      <div className="min-w-0">
        {control}
        {typeof value === 'string' && !is_masked && <HiddenHint id={id} text={value} />}
      </div>
    </div>
  )
}

function leavesOf(value: Json, path: Path = []): { path: Path; value: Json }[] {
  if (Array.isArray(value) && value.length) return value.flatMap((item, i) => leavesOf(item, [...path, i]))
  if (isObject(value) && Object.keys(value).length) return entriesOf(value).flatMap(([name, item]) => leavesOf(item, [...path, name]))
  return [{ path, value }]
}

const placesOf = (leaves: { path: Path }[]): string => leaves.map(({ path }) => JSON.stringify(path)).sort().join()

const fields_max = 60

type Props = { original: JsonObject; value: JsonObject; onChange: (value: JsonObject, is_valid: boolean) => void }

export function ArgumentsEditor({ original, value, onChange }: Props) {
  const leaves = leavesOf(original)
  // Fields show what the original has: members that were added or removed are seen in the JSON only.
  const [is_raw, setRaw] = useState(() => leaves.length > fields_max || Object.keys(original).length === 0 || placesOf(leaves) !== placesOf(leavesOf(value)))
  const [raw, setRawText] = useState(() => visibleJson(value))
  const [raw_error, setRawError] = useState<string | null>(null)
  const [wrong, setWrong] = useState<ReadonlySet<string>>(new Set())
  const fits_fields = raw_error === null && placesOf(leaves) === placesOf(leavesOf(value))
  const id = useId()
  // It starts with the last value that fitted.
  useEffect(() => onChange(value, true), [])

  const changeLeaf = (path: Path, leaf: Json | undefined) => {
    const bad = new Set(wrong)
    if (leaf === undefined) bad.add(printPath(path))
    else bad.delete(printPath(path))
    setWrong(bad)
    onChange((leaf === undefined ? value : setAt(value, path, leaf)) as JsonObject, bad.size === 0)
  }
  const changeRaw = (text: string) => {
    setRawText(text)
    const read = parseTyped(text)
    const error = 'error' in read ? read.error : isObject(read.value) ? null : 'must be an object'
    setRawError(error)
    if ('value' in read && isObject(read.value)) onChange(read.value, true)
    else onChange(value, false)
  }
  return (
    <div>
      <div className="mb-3 flex justify-end">
        {leaves.length <= fields_max && (
          <button
            type="button"
            className="btn-link text-[0.8125rem]"
            disabled={is_raw && !fits_fields}
            aria-describedby={is_raw && !fits_fields ? `${id}-why` : undefined}
            onClick={() => {
              // What was changed goes along: the other way of editing shows all of it.
              setRaw(!is_raw)
              setRawText(visibleJson(value))
              setRawError(null)
              setWrong(new Set())
              onChange(value, true)
            }}
          >
            {is_raw ? 'Edit as fields' : 'Edit as JSON'}
          </button>
        )}
      </div>
      {is_raw && !fits_fields && leaves.length <= fields_max && (
        <p id={`${id}-why`} className="m-0 mb-1 text-right text-[0.8125rem] text-faint">
          {raw_error ? 'It can be shown as fields once it is JSON again.' : 'Fields show only the members that were asked for.'}
        </p>
      )}
      {is_raw ? (
        <>
          <label htmlFor={id} className="sr-only">
            Arguments as JSON
          </label>
          <textarea id={id} aria-describedby={hintOf(id, raw)} className="field min-h-56 field-sizing-content font-mono text-[0.875rem] leading-6" spellCheck={false} value={raw} aria-invalid={raw_error !== null} onChange={(event) => changeRaw(event.target.value)} />
          <HiddenHint id={id} text={raw} />
          {raw_error && <p className="m-0 mt-1 text-[0.8125rem] text-no">{raw_error}</p>}
        </>
      ) : (
        <div className="grid grid-cols-1 gap-2.5">
          {leaves.map(({ path }) => (
            <LeafEditor key={printPath(path)} name={printPath(path)} is_secret={path.some((part) => typeof part === 'string' && isSecretName(part))} value={leafAt(value, path)} onChange={(leaf) => changeLeaf(path, leaf)} />
          ))}
        </div>
      )}
    </div>
  )
}

function leafAt(value: Json, path: Path): Json {
  let at: Json = value
  for (const step of path) at = (at as Record<string | number, Json>)[step] ?? null
  return at
}
