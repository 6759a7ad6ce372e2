// What changes, old beside new: values of a tree, or words of a text.
import { diffWordsWithSpace } from 'diff'
import { useMemo } from 'react'
import { printPath, type Change } from '../model/json'
import { isSecretName } from '../model/secrets'
import { SafeText } from '../ui/safe_text'
import type { Json } from '../wire'

function Value({ value, name }: { value: Json | undefined; name: string }) {
  if (value === undefined) return null
  if (typeof value === 'string' && isSecretName(name)) return <>••••••••</>
  const text = JSON.stringify(value)
  return <SafeText text={text.length > 400 ? `${text.slice(0, 399)}…` : text} />
}

export function ChangeList({ changes }: { changes: Change[] }) {
  return (
    <ul className="m-0 grid list-none gap-1.5 p-0 font-mono text-[0.875rem]">
      {changes.slice(0, 40).map((change, i) => {
        const name = String(change.path.at(-1) ?? '')
        return (
          <li key={i} className="foreign">
            <span className="text-soft">
              <SafeText text={printPath(change.path) || 'value'} />
            </span>{' '}
            {change.kind !== 'added' && (
              <del className="rounded-sm bg-removed px-1 decoration-no">
                <Value value={change.before} name={name} />
              </del>
            )}
            {change.kind === 'changed' && <span aria-hidden="true" className="text-faint"> → </span>}
            {change.kind !== 'removed' && (
              <ins className="rounded-sm bg-added px-1 font-semibold no-underline">
                <Value value={change.after} name={name} />
              </ins>
            )}
          </li>
        )
      })}
      {changes.length > 40 && <li className="font-sans text-faint">and {changes.length - 40} more</li>}
    </ul>
  )
}

export function TextDiff({ before, after }: { before: string; after: string }) {
  // Comparing words costs the product of the lengths; beyond this both are shown whole.
  const parts = useMemo(
    () => (before.length + after.length > 40_000 ? null : diffWordsWithSpace(before, after)),
    [before, after],
  )
  return (
    <p className="foreign m-0 rounded-lg bg-well p-4 leading-6">
      {parts ? (
        parts.map((part, i) =>
          part.added ? (
            <ins key={i} className="rounded-sm bg-added no-underline">
              <SafeText text={part.value} />
            </ins>
          ) : part.removed ? (
            <del key={i} className="rounded-sm bg-removed decoration-no">
              <SafeText text={part.value} />
            </del>
          ) : (
            <SafeText key={i} text={part.value} />
          ),
        )
      ) : (
        <SafeText text={after} />
      )}
    </p>
  )
}
