// Two long texts that differ somewhere: the parts to look at.
import { findSecrets } from './secrets'

/** A part of a text, and whether there is more of it on either side, the same in both texts. */
export type Excerpt = { text: string; has_before: boolean; has_after: boolean }

const short_max = 400
const around = 60
// What tells a credential, like `password=`, may stand before it: cut off from that it would not be masked.
const secret_around = 80

const isLowHalf = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff

function cut(text: string, start: number, end: number): Excerpt {
  let [from, to] = [start - around, end + around]
  const secrets = findSecrets(text)
  for (const secret of secrets.toReversed()) if (secret.start < to && secret.end > from) from = Math.min(from, secret.start - secret_around)
  for (const secret of secrets) if (secret.start < to && secret.end > from) to = Math.max(to, secret.end + 1)
  from = Math.max(0, from)
  to = Math.min(text.length, to)
  // Never between the halves of one character.
  if (from > 0 && isLowHalf(text.charCodeAt(from))) --from
  if (to < text.length && isLowHalf(text.charCodeAt(to))) ++to
  return { text: text.slice(from, to), has_before: from > 0, has_after: to < text.length }
}

/** Both texts from a little before the first difference to a little behind the last; short ones whole. Nothing that differs is left out. */
export function excerptsOf(before: string, after: string): [Excerpt, Excerpt] {
  const shorter = Math.min(before.length, after.length)
  if (Math.max(before.length, after.length) <= short_max) return [cut(before, 0, before.length), cut(after, 0, after.length)]
  let start = 0
  while (start < shorter && before[start] === after[start]) ++start
  let rest = 0
  while (rest < shorter - start && before[before.length - 1 - rest] === after[after.length - 1 - rest]) ++rest
  return [cut(before, start, before.length - rest), cut(after, start, after.length - rest)]
}
