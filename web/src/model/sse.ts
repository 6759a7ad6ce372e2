// Server-sent events out of a text that arrives in pieces.

export type SseEvent = { name: string; data: string }

/** Takes pieces of a stream; gives every event that is complete. */
export class SseReader {
  private rest = ''

  push(piece: string): SseEvent[] {
    this.rest += piece
    const found: SseEvent[] = []
    for (;;) {
      const end = /\r?\n\r?\n/.exec(this.rest)
      if (!end) return found
      const block = this.rest.slice(0, end.index)
      this.rest = this.rest.slice(end.index + end[0].length)
      const lines = block.split(/\r?\n/)
      const valuesOf = (field: string) => lines.filter((line) => line.startsWith(field)).map((line) => line.slice(field.length).replace(/^ /, ''))
      const data = valuesOf('data:')
      if (data.length) found.push({ name: valuesOf('event:').at(-1) ?? 'message', data: data.join('\n') })
    }
  }
}
