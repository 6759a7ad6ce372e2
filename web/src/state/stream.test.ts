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

describe('tabs that share one stream (H7)', () => {
  type Held = { run: () => Promise<void>; abort: (error: Error) => void }
  const flush = async () => {
    for (let i = 0; i < 10; ++i) await Promise.resolve()
  }
  let channels: { onmessage: ((message: { data: unknown }) => void) | null; is_hung: boolean }[] = []
  let queue: Held[] = []
  let held: Held | null = null
  const grant = (next: Held | undefined) => {
    held = next ?? null
    void next?.run().then(() => held === next && grant(queue.shift()))
  }
  const tabs: { stream: Stream; states: StreamState[]; heard: number[]; gaps: number }[] = []
  const openTab = () => {
    const tab: (typeof tabs)[number] = { stream: undefined as never, states: [], heard: [], gaps: 0 }
    tab.stream = new Stream({ onEvent: ({ seq }) => tab.heard.push(seq), onPresence: () => {}, onGap: () => ++tab.gaps, onState: (state) => tab.states.push(state) })
    tabs.push(tab)
    return tab
  }
  beforeEach(() => {
    stream.close()
    FakeSource.all = []
    channels = []
    queue = []
    held = null
    vi.stubGlobal('BroadcastChannel', class {
      onmessage = null
      is_hung = false
      constructor() {
        channels.push(this)
      }
      postMessage(data: unknown) {
        for (const other of channels) if (other !== this && !other.is_hung) other.onmessage?.({ data })
      }
      close() {
        channels = channels.filter((one) => one !== this)
      }
    })
    vi.stubGlobal('navigator', {
      locks: {
        request: (_: string, { steal }: LockOptions, run: () => Promise<void>) =>
          new Promise<void>((resolve, abort) => {
            const next: Held = { run: () => run().then(resolve), abort }
            if (!steal && held) return void queue.push(next)
            held?.abort(Object.assign(new Error('taken'), { name: 'AbortError' }))
            grant(next)
          }),
      },
    })
  })
  afterEach(() => tabs.splice(0).forEach((tab) => tab.stream.close()))

  it.each([true, false])('listen to one as long as it answers, whether the server beats or not: %s', async (beats) => {
    const [first, second] = [openTab(), openTab()]
    latest().onopen()
    for (let i = 0; i < 10; ++i) {
      if (beats) latest().say('beat')
      pass(35)
    }
    await flush()
    expect(FakeSource.all).toHaveLength(1)
    expect([first, second].map(({ states }) => [states.at(-1), states.includes('lost')])).toEqual([['live', false], ['live', false]])
  })

  it('one that hangs is not waited for: another one listens in its place, and it follows when it is back', async () => {
    const [first, second, third] = [openTab(), openTab(), openTab()]
    latest().onopen()
    latest().say('tool-result', { seq: 7, request: {} })
    // Its script goes on for ever: nothing that comes in is passed on.
    channels[0]!.is_hung = true
    clearTimeout(first.stream['watchdog'])
    const hung = latest()
    pass(39)
    expect(second.states.at(-1)).toBe('live')
    pass(1)
    await flush()
    expect([second, third].map(({ states }) => states.at(-1))).toEqual(['lost', 'lost'])
    expect(FakeSource.all).toHaveLength(2)
    expect(latest().url).toBe('/v1/events?last_event_id=7')
    latest().onopen()
    latest().say('tool-result', { seq: 8, request: {} })
    expect([second, third].map(({ states, heard }) => [states.at(-1), heard])).toEqual([['live', [7, 8]], ['live', [7, 8]]])
    // It finds that the lock is gone: it listens no more, reads what it missed, and hears the other one.
    channels[0]!.is_hung = false
    expect(hung.is_closed).toBe(true)
    expect(first.gaps).toBe(2)
    latest().say('tool-result', { seq: 9, request: {} })
    expect(first.heard).toEqual([7, 9])
    // It leads again when nobody else does.
    second.stream.close()
    third.stream.close()
    await flush()
    expect(FakeSource.all).toHaveLength(3)
    expect(latest().url).toBe('/v1/events?last_event_id=9')
  })

  it('one that is opened while the other hangs does not wait for it', async () => {
    const { stream } = openTab()
    channels[0]!.is_hung = true
    clearTimeout(stream['watchdog'])
    const late = openTab()
    pass(10)
    await flush()
    latest().onopen()
    expect(late.states.at(-1)).toBe('live')
  })
})
