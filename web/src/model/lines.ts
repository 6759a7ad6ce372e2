// Texts in fields for lines. A browser makes every line end there a line feed: what was not changed must come back as it was.

/** What ends the lines of a text; null where they end in more than one way, which no field keeps. */
export function lineEndOf(text: string): '\n' | '\r\n' | null {
  if (!text.includes('\r')) return '\n'
  return /(?:^|[^\r])\n|\r(?!\n)/.test(text) ? null : '\r\n'
}

export const toField = (text: string): string => text.replaceAll('\r\n', '\n')
export const fromField = (text: string, line_end: '\n' | '\r\n'): string => (line_end === '\n' ? text : text.replaceAll('\n', line_end))

/** For whoever wants to change it all the same: one of the changes then. */
export const alike = (text: string): string => text.replace(/\r\n?/g, '\n')
