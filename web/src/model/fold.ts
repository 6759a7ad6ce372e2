// Where long values are folded away on the screen, and which values are shown whole.
import type { Json } from '../wire'

/** So many members of one object or list are shown at first. */
export const members_max = 60

const fold_characters = 900
const fold_lines = 14

/** `at`, or the place before it where that would be between the halves of one character. */
function between(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1)
  return at < text.length && unit >= 0xd800 && unit <= 0xdbff ? at - 1 : at
}

/** The first `length` characters of a text at the most. */
export const beginning = (text: string, length: number): string => text.slice(0, between(text, Math.min(length, text.length)))

/** Where a text is folded; its length if it is shown whole. */
export function foldAt(text: string): number {
  let at = Math.min(text.length, fold_characters)
  let line = 0
  for (let i = 0; i < at; ++i) if (text[i] === '\n' && ++line === fold_lines) at = i
  // A few more characters are cheaper to read than a button.
  if (text.length - at < 120) return text.length
  return between(text, at)
}

/** True when nothing of a value is behind a button. */
export function isShownWhole(value: Json): boolean {
  if (typeof value === 'string') return foldAt(value) === value.length
  if (typeof value !== 'object' || value === null) return true
  const items = Object.values(value)
  return items.length <= members_max && items.every(isShownWhole)
}
