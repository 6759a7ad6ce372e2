// Cuts a text that somebody else wrote into the pieces the screen shows: plain, hidden characters, words that
// deserve a look, credentials, and words made of letters of two alphabets.
import { findDanger } from './danger'
import { findHidden } from './hidden'
import { findSecrets } from './secrets'

export type Piece =
  | { kind: 'plain'; text: string }
  | { kind: 'hidden'; label: string; name: string }
  | { kind: 'danger'; text: string; what: string }
  | { kind: 'mixed'; text: string }
  | { kind: 'secret'; text: string }

type Mark = { start: number; end: number; kind: 'danger' | 'mixed' | 'secret'; what: string }

const other_alphabet = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\uff21-\uff5a]/u
const latin = /\p{Script=Latin}/u

function findMixed(text: string): { start: number; end: number }[] {
  if (!other_alphabet.test(text)) return []
  return [...text.matchAll(/[\p{L}\p{M}]+/gu)]
    .filter((word) => other_alphabet.test(word[0]) && latin.test(word[0].replace(/[\uff21-\uff5a]/g, '')))
    .map((word) => ({ start: word.index, end: word.index + word[0].length }))
}

/** `text` without what is hidden in it, and where each remaining character stood. */
function uncover(text: string, hidden: { start: number; end: number }[]): { text: string; at: (i: number) => number } {
  if (hidden.length === 0) return { text, at: (i) => i }
  let out = ''
  const positions: number[] = []
  let from = 0
  for (const gap of [...hidden, { start: text.length, end: text.length }]) {
    for (let i = from; i < gap.start; ++i) positions.push(i)
    out += text.slice(from, gap.start)
    from = gap.end
  }
  positions.push(text.length)
  return { text: out, at: (i) => positions[i] ?? text.length }
}

function findMarks(text: string): Mark[] {
  const marks: Mark[] = [
    ...findSecrets(text).map((found) => ({ ...found, kind: 'secret' as const, what: 'credential' })),
    ...findDanger(text).map((found) => ({ ...found, kind: 'danger' as const })),
    ...findMixed(text).map((found) => ({ ...found, kind: 'mixed' as const, what: 'letters of two alphabets' })),
  ]
  return marks
}

const rank = { danger: 0, secret: 1, mixed: 2 }

/** The pieces of `text` in order; joined they are the whole text, hidden characters as their escapes. */
export function markedPieces(text: string): Piece[] {
  const hidden = findHidden(text)
  // A zero-width space inside `rm` must not hide it from the search.
  const bare = uncover(text, hidden)
  const marks = findMarks(bare.text)
    .map((mark) => ({ ...mark, start: bare.at(mark.start), end: bare.at(mark.end - 1) + 1 }))
    .sort((a, b) => rank[a.kind] - rank[b.kind])
  if (hidden.length === 0 && marks.length === 0) return text ? [{ kind: 'plain', text }] : []

  const cuts = new Set([0, text.length])
  for (const span of [...hidden, ...marks]) cuts.add(span.start).add(span.end)
  const edges = [...cuts].sort((a, b) => a - b)
  const escapes = new Map(hidden.map((span) => [span.start, span]))
  const pieces: Piece[] = []
  let covered = 0
  for (let i = 0; i + 1 < edges.length; ++i) {
    const start = edges[i]!
    const end = edges[i + 1]!
    if (start < covered) continue
    const escape = escapes.get(start)
    if (escape) {
      pieces.push({ kind: 'hidden', label: escape.label, name: escape.name })
      covered = escape.end
      continue
    }
    const mark = marks.find((one) => one.start <= start && one.end >= end)
    const part = text.slice(start, end)
    if (!mark) pieces.push({ kind: 'plain', text: part })
    else if (mark.kind === 'danger') pieces.push({ kind: 'danger', text: part, what: mark.what })
    else pieces.push({ kind: mark.kind, text: part })
  }
  return pieces
}

/** How many pieces of a text deserve a look; for parts that are folded away. */
export function countMarks(text: string): number {
  return markedPieces(text).filter((piece) => piece.kind !== 'plain').length
}

/** The text with every hidden character printed, for titles and other places that take only a string. */
export function visibleText(text: string): string {
  return markedPieces(text)
    .map((piece) => (piece.kind === 'hidden' ? `⟨${piece.label}⟩` : piece.text))
    .join('')
}
