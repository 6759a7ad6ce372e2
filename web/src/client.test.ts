import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { client } from './client'
import { EndMissing, sentence, ServerError, Unreachable } from './errors'
import { Newest } from './audit/export'

/** Answers with a stream that says `pieces`, each after its time, and then is silent or ends. */
function answerWith(pieces: [at_ms: number, text: string][], ends_at_ms?: number): void {
  vi.stubGlobal('fetch', (_: string, { signal }: RequestInit) =>
    Promise.resolve(
      new Response(
        new ReadableStream({
          start(body) {
            const timers = pieces.map(([at, text]) => setTimeout(() => body.enqueue(new TextEncoder().encode(text)), at))
            if (ends_at_ms !== undefined) timers.push(setTimeout(() => body.close(), ends_at_ms))
            signal?.addEventListener('abort', () => {
              timers.forEach(clearTimeout)
              try {
                body.error(signal.reason)
              } catch {
                // It ended before.
              }
            })
          },
        }),
      ),
    ),
  )
}
const told = (seq: number) => `id: ${seq}\nevent: tool-result\ndata: {"seq":${seq}}\n\n`
const beat = 'event: beat\ndata: {}\n\n'

/** What is read, or how reading failed. */
async function readAll(until = Infinity): Promise<number[] | unknown> {
  const seen: number[] = []
  const reading = client.pastEvents({}, 0, until, (event) => seen.push(event.seq), new AbortController().signal).then(() => seen, (error: unknown) => error)
  await vi.advanceTimersByTimeAsync(200_000)
  return reading
}

describe('reading what happened (S3)', () => {
  beforeEach(() => vi.useFakeTimers())
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })
  it('ends at the first beat, however long the pauses before it', async () => {
    answerWith([[0, `retry: 2000\n\n${told(1)}`], [9000, told(2)], [24_000, ': still reading\n\n'], [50_000, told(3)], [50_001, beat], [60_000, told(4)]])
    expect(await readAll()).toEqual([1, 2, 3])
  })
  it('ends where it was told to', async () => {
    answerWith([[0, told(1) + told(2) + told(3)]])
    expect(await readAll(2)).toEqual([1, 2])
  })
  it('without a beat it fails: what came may not be all', async () => {
    answerWith([[0, told(1)]])
    expect(await readAll()).toBeInstanceOf(EndMissing)
    answerWith([[0, told(1)]], 10)
    expect(await readAll()).toBeInstanceOf(EndMissing)
    answerWith([[0, 'retry: 2000\n\n'], [15_000, ': beat\n\n'], [30_000, ': beat\n\n'], [45_000, ': beat\n\n'], [60_001, ': beat\n\n']])
    expect(await readAll()).toBeInstanceOf(EndMissing)
  })
  it('a server that does not answer is named as such', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('failed')))
    expect(await readAll()).toBeInstanceOf(Unreachable)
  })
  it.each([0, 1, 3, 400, 1000])('of more than can be kept the newest stay, without a gap: %i', (count) => {
    const newest = new Newest<number>(count)
    for (let i = 1; i <= 1000; ++i) newest.add(i)
    expect(newest.all()).toEqual(Array.from({ length: count }, (_, i) => 1000 - count + 1 + i))
    expect(newest.has_dropped).toBe(count < 1000)
  })
})

it('an error of one of several is told as if it were alone', () => {
  const error = new ServerError(400, { code: 'invalid_argument', message: 'is required', field: 'decisions[3].reason' })
  expect(sentence(error)).toBe('Reason is required.')
})
