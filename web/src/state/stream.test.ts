import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Stream, type StreamState } from './stream'

class FakeSource extends EventTarget {
  static all: FakeSource[] = []
  onopen: () => void = () => {}
  onerror: () => void = () => {}
  is_closed = false
  constructor(readonly url: string) {
    super()
    FakeSource.all.push(this)
  }
  close(): void {
    this.is_closed = true
  }
  say(name: string, data: unknown = {}): void {
    this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data) }))
  }
}

const states: StreamState[] = []
let stream: Stream
beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('EventSource', FakeSource)
  vi.stubGlobal('BroadcastChannel', class { postMessage() {} close() {} })
  vi.stubGlobal('navigator', {})
  FakeSource.all = []
  states.length = 0
  stream = new Stream({ onEvent: () => {}, onPresence: () => {}, onGap: () => {}, onState: (state) => states.push(state) })
})
afterEach(() => {
  stream.close()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})
const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1000)
const latest = () => FakeSource.all.at(-1)!

describe('a stream that falls silent (H7)', () => {
  it('is lost once a server that beats does not, and goes on after the last event', () => {
    latest().onopen()
    pass(15)
    latest().say('beat')
    latest().say('tool-result', { seq: 7, request: {} })
    pass(39)
    expect(states).toEqual(['live'])
    pass(2)
    expect(states).toEqual(['live', 'lost'])
    expect(FakeSource.all[0]!.is_closed).toBe(true)
    pass(1)
    expect(latest().url).toBe('/v1/events?last_event_id=7')
    latest().onopen()
    expect(states.at(-1)).toBe('live')
    // Nor does the new one go on for ever without a word.
    pass(41)
    expect(states.at(-1)).toBe('lost')
  })
  it('lives by whatever comes: beats, events, who else looks', () => {
    latest().onopen()
    for (const name of ['beat', 'presence', 'beat', 'decision-recorded', 'beat']) {
      latest().say(name, name === 'decision-recorded' ? { seq: 8, request: {} } : {})
      pass(35)
    }
    expect(states).toEqual(['live'])
    expect(FakeSource.all).toHaveLength(1)
  })
  it('is not lost where the server never beats', () => {
    latest().onopen()
    latest().say('tool-result', { seq: 7, request: {} })
    pass(3600)
    expect(states).toEqual(['live'])
  })
  it('does not wait for ever for an answer to its call', () => {
    pass(41)
    expect(states).toEqual(['lost'])
    pass(1)
    expect(FakeSource.all).toHaveLength(2)
  })
  it('is left alone once it is closed', () => {
    latest().onopen()
    latest().say('beat')
    stream.close()
    pass(3600)
    expect(FakeSource.all).toHaveLength(1)
    expect(states).toEqual(['live'])
  })
})
