// Two texts word by word. In a file of its own: comparing words is a library that only changed texts need.
import { diffWordsWithSpace } from 'diff'
import { useMemo } from 'react'
import { SafeText } from '../ui/safe_text'

export default function TextDiff({ before, after }: { before: string; after: string }) {
  // Comparing words costs the product of the lengths; beyond this both are shown whole.
  const parts = useMemo(
    () => (before.length + after.length > 40_000 ? null : diffWordsWithSpace(before, after)),
    [before, after],
  )
  if (!parts) return <SafeText text={after} />
  return parts.map((part, i) =>
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
}
