// Finds characters that a person cannot see, or that change the order of what they see. Everything an agent
// sends may contain them; on screen each becomes a printed escape.

import type { Json } from '../wire'

/** A stretch of one kind of hidden character: `count` times `code`, or decoded tag characters. */
export type Hidden = { start: number; end: number; label: string; name: string }

const names: Record<number, string> = {
  0x00: 'null', 0x07: 'bell', 0x08: 'backspace', 0x0b: 'vertical tab', 0x0d: 'carriage return', 0x1b: 'escape',
  0x7f: 'delete', 0xa0: 'no-break space', 0xad: 'soft hyphen', 0x34f: 'grapheme joiner', 0x61c: 'Arabic letter mark',
  0x115f: 'Hangul filler', 0x1160: 'Hangul filler', 0x180e: 'Mongolian vowel separator', 0x200b: 'zero width space',
  0x200c: 'zero width non-joiner', 0x200d: 'zero width joiner', 0x200e: 'left-to-right mark', 0x200f: 'right-to-left mark',
  0x2028: 'line separator', 0x2029: 'paragraph separator', 0x202a: 'left-to-right embedding',
  0x202b: 'right-to-left embedding', 0x202c: 'pop directional formatting', 0x202d: 'left-to-right override',
  0x202e: 'right-to-left override', 0x202f: 'narrow no-break space', 0x2060: 'word joiner', 0x2061: 'function application',
  0x2066: 'left-to-right isolate', 0x2067: 'right-to-left isolate', 0x2068: 'first strong isolate',
  0x2069: 'pop directional isolate', 0x2800: 'blank Braille pattern', 0x3000: 'ideographic space', 0x3164: 'Hangul filler',
  0xfeff: 'byte order mark', 0xffa0: 'Hangul filler', 0xfffc: 'object replacement',
}

const isTag = (code: number) => code >= 0xe0020 && code <= 0xe007e

// Line feed and tab are layout that a <pre> shows; every other blank but the plain space is marked.
const hidden =
  /[\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800\ufffc]/u
// What emoji are made of is no hiding place: a joiner or selector right between pictures stays.
const emoji = /\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?(?:\u200d\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)*/uy
const marks_max = 4

export function escapeOf(code: number): string {
  return 'U+' + code.toString(16).toUpperCase().padStart(4, '0')
}

function describe(codes: number[]): { label: string; name: string } {
  const first = codes[0] ?? 0
  if (isTag(first)) {
    const text = String.fromCharCode(...codes.map((code) => code - 0xe0000))
    return { label: `tags “${text}”`, name: `hidden text in tag characters: ${text}` }
  }
  const times = codes.length > 1 ? ` ×${codes.length}` : ''
  return { label: escapeOf(first) + times, name: (names[first] ?? 'hidden character') + times }
}

// Most text is this, and nothing of it can hide: what a keyboard of the West writes, and the punctuation the page itself uses.
// The long way asks Unicode about every single character.
const plain = /^[\x20-\x7e\n\t\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u203b\u20a0-\u20bf\u2190-\u2193\u2212]*$/

/** Every stretch of hidden characters, in order. */
export function findHidden(text: string): Hidden[] {
  if (plain.test(text)) return []
  const found: Hidden[] = []
  let run: { start: number; codes: number[] } | null = null
  const close = (end: number) => {
    if (run) found.push({ start: run.start, end, ...describe(run.codes) })
    run = null
  }
  let marks = 0
  for (let i = 0; i < text.length; ) {
    emoji.lastIndex = i
    const picture = emoji.exec(text)?.[0]
    if (picture) {
      close(i)
      marks = 0
      i += picture.length
      continue
    }
    const code = text.codePointAt(i) ?? 0
    const character = String.fromCodePoint(code)
    // A pile of accents on one letter covers what stands above and below it.
    marks = /\p{M}/u.test(character) ? marks + 1 : 0
    if (hidden.test(character) || marks > marks_max) {
      const last: number | undefined = (run as { codes: number[] } | null)?.codes.at(-1)
      const goes_on = run && (last === code || (isTag(code) && isTag(last ?? 0)))
      if (!goes_on) {
        close(i)
        run = { start: i, codes: [] }
      }
      run!.codes.push(code)
    } else {
      close(i)
    }
    i += character.length
  }
  close(text.length)
  return found
}

/** JSON in which nothing hides: what would not be seen stands as an escape, which means the same. */
export function visibleJson(value: Json): string {
  let out = ''
  let end = 0
  const text = JSON.stringify(value, null, 2)
  for (const one of findHidden(text)) {
    out += text.slice(end, one.start) + Array.from({ length: one.end - one.start }, (_, i) => `\\u${text.charCodeAt(one.start + i).toString(16).padStart(4, '0')}`).join('')
    end = one.end
  }
  return out + text.slice(end)
}
