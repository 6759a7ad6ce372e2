// Server-sent events out of a text that arrives in pieces.

/** Takes pieces of a stream; gives the `data` of every event that is complete. */
export class SseReader {
  private rest = ''

  push(piece: string): string[] {
    this.rest += piece
    const found: string[] = []
    for (;;) {
      const end = /\r?\n\r?\n/.exec(this.rest)
      if (!end) return found
      const block = this.rest.slice(0, end.index)
      this.rest = this.rest.slice(end.index + end[0].length)
      const data = block
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(line.startsWith('data: ') ? 6 : 5))
      if (data.length) found.push(data.join('\n'))
    }
  }
}
