// What changes, old beside new: values of a tree, or words of a text.
import { Suspense } from 'react'
import { excerptsOf, type Excerpt } from '../model/excerpt'
import { printPath, type Change } from '../model/json'
import { isSecretName, maskSecrets } from '../model/secrets'
import { WordDiff } from '../ui/deciding'
import { LongText, SafeText } from '../ui/safe_text'
import type { Json } from '../wire'

function Part({ part }: { part: Excerpt }) {
  return (
    <>
      {part.has_before && <span className="text-faint">… </span>}
      <LongText text={part.text} is_exact />
      {part.has_after && <span className="text-faint"> …</span>}
    </>
  )
}

export function ChangeList({ changes }: { changes: Change[] }) {
  return (
    <ul className="m-0 grid list-none gap-1.5 p-0 font-mono text-[0.875rem]">
      {changes.slice(0, 40).map((change, i) => {
        // Under a secret name everything is secret, however deep.
        const is_secret = change.path.some((step) => typeof step === 'string' && isSecretName(step))
        const print = (value: Json | undefined) => (value === undefined ? '' : JSON.stringify(maskSecrets(value, is_secret)))
        const [before, after] = excerptsOf(print(change.before), print(change.after))
        return (
          <li key={i} className="foreign">
            <span className="text-soft">
              <SafeText text={printPath(change.path) || 'value'} />
            </span>{' '}
            {change.kind !== 'added' && (
              <del className="rounded-sm bg-removed px-1 decoration-no">
                <Part part={before} />
              </del>
            )}
            {change.kind === 'changed' && <span aria-hidden="true" className="text-faint"> → </span>}
            {change.kind !== 'removed' && (
              <ins className="rounded-sm bg-added px-1 font-semibold no-underline">
                <Part part={after} />
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
  return (
    <p className="foreign m-0 rounded-lg bg-well p-4 leading-6">
      <Suspense fallback={<SafeText text={after} />}>
        <WordDiff before={before} after={after} />
      </Suspense>
    </p>
  )
}
