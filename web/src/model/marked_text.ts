// Cuts a text that somebody else wrote into the pieces the screen shows: plain, hidden characters, words that
// deserve a look, credentials, and words made of letters of two alphabets.
import { findDanger } from './danger'
import { findHidden } from './hidden'
import { entriesOf, isObject } from './json'
import { findSecrets, isSecretName, isTooMuch, mask } from './secrets'
import type { Json } from '../wire'

export type Piece =
  | { kind: 'plain'; text: string }
  | { kind: 'hidden'; label: string; name: string }
  | { kind: 'danger'; text: string; what: string }
  | { kind: 'mixed'; text: string }
  | { kind: 'secret'; text: string }

type Mark = { start: number; end: number; kind: 'danger' | 'mixed' | 'secret'; what: string }

const other_alphabet = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\uff21-\uff5a]/u
const latin = /\p{Script=Latin}/u

const ascii = /^[\x00-\x7f]*$/

function findMixed(text: string): { start: number; end: number }[] {
  if (ascii.test(text) || !other_alphabet.test(text)) return []
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

// Later ones are painted over earlier ones: a danger inside a credential stays visible.
const rank = { mixed: 0, secret: 1, danger: 2 }

/** The pieces of `text` in order; joined they are the whole text, hidden characters as their escapes. */
export function markedPieces(text: string): Piece[] {
  const hidden = findHidden(text)
  // A zero-width space inside `rm` must not hide it from the search.
  const bare = uncover(text, hidden)
  const marks = findMarks(bare.text).sort((a, b) => rank[a.kind] - rank[b.kind])
  if (hidden.length === 0 && marks.length === 0) return text ? [{ kind: 'plain', text }] : []

  const paint = new Int32Array(text.length).fill(-1)
  for (const [i, mark] of marks.entries()) paint.fill(i, bare.at(mark.start), bare.at(mark.end - 1) + 1)
  const pieces: Piece[] = []
  const add = (start: number, end: number) => {
    for (let from = start; from < end; ) {
      let to = from + 1
      while (to < end && paint[to] === paint[from]) ++to
      const mark = marks[paint[from]!]
      const part = text.slice(from, to)
      if (!mark) pieces.push({ kind: 'plain', text: part })
      else if (mark.kind === 'danger') pieces.push({ kind: 'danger', text: part, what: mark.what })
      else pieces.push({ kind: mark.kind, text: part })
      from = to
    }
  }
  let from = 0
  for (const escape of hidden) {
    add(from, escape.start)
    pieces.push({ kind: 'hidden', label: escape.label, name: escape.name })
    from = escape.end
  }
  add(from, text.length)
  return pieces
}

/** How many pieces of a text deserve a look; for parts that are folded away. */
export function countMarks(text: string): number {
  return markedPieces(text).filter((piece) => piece.kind !== 'plain').length
}

/** The text with every hidden character printed, for titles and other places that take only a string. */
export function visibleText(text: string): string {
  let out = ''
  let from = 0
  for (const one of findHidden(text)) {
    out += `${text.slice(from, one.start)}⟨${one.label}⟩`
    from = one.end
  }
  return from === 0 ? text : out + text.slice(from)
}

/** `visibleText` with credentials masked, for one line among many, where nobody has asked to see them. */
export function maskedText(text: string): string {
  const bare = uncover(text, findHidden(text))
  let out = ''
  let from = 0
  for (const { start, end } of findSecrets(bare.text)) {
    out += visibleText(text.slice(from, bare.at(start))) + mask
    from = bare.at(end - 1) + 1
  }
  return out + visibleText(text.slice(from))
}

/** True when something of a value is masked that must be looked at before it is decided: whatever only looks like a credential, and too much under a secret name. */
export function hidesMuch(value: Json): boolean {
  if (typeof value === 'string') return findSecrets(uncover(value, findHidden(value)).text).length > 0
  if (Array.isArray(value)) return value.some(hidesMuch)
  return isObject(value) && entriesOf(value).some(([name, item]) => (isSecretName(name) && isTooMuch(item)) || hidesMuch(name) || hidesMuch(item))
}
