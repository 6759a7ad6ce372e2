// What can go wrong when the page talks to the server.
import type { ErrorBody, Request } from './wire'

/** The server said no. `request` is how the request stands, when the answer was about one. */
export class ServerError extends Error {
  readonly code: ErrorBody['code']
  readonly field: string | null
  readonly request: Request | null
  /** The code without which this is refused. */
  readonly confirm: string | null

  constructor(
    readonly status: number,
    body: ErrorBody,
    readonly retry_after_s: number | null = null,
  ) {
    super(body.message)
    this.code = body.code
    // Which of several decisions it was is seen where it is told.
    this.field = body.field?.replace(/^decisions\[\d+\]\./, '') ?? null
    this.request = body.request ?? null
    this.confirm = body.confirm ?? null
  }
}

/** No answer came; whether the call arrived is not known. */
export class Unreachable extends Error {
  constructor() {
    super('the server does not answer')
  }
}

/** A list came without the word that it is whole. */
export class EndMissing extends Error {
  constructor() {
    super('The server did not say that this is everything. Read again.')
  }
}

/** What happened, as a sentence for people. */
export function sentence(error: unknown): string {
  if (error instanceof Unreachable) return 'The server does not answer.'
  if (error instanceof ServerError) {
    const field = error.field && !error.message.includes(error.field) ? `${error.field} ` : ''
    const text = field + error.message
    return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.')
  }
  return error instanceof Error ? error.message : String(error)
}
