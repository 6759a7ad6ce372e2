// The live stream of events. Tabs share one connection, because browsers open only six to a server: whoever holds the
// lock listens and passes events on. A connection that broke goes on after the last event seen; one that is silent for longer than
// the server ever is broke too, although nobody said so.
import type { Event, EventName, Viewers } from '../wire'

const event_names: EventName[] = [
  'approval-required', 'decision-recorded', 'request-settled', 'request-reminded', 'request-escalated', 'request-retried',
  'request-extended', 'tool-result', 'decision-held', 'decision-undone',
]

export type StreamState = 'connecting' | 'live' | 'lost'

export type StreamListener = {
  onEvent: (event: Event) => void
  onPresence: (viewers: Viewers) => void
  onState: (state: StreamState) => void
  /** The stream began without knowing where it stopped: what happened meanwhile must be read. */
  onGap: () => void
}

type Message = { type: 'event'; event: Event } | { type: 'presence'; viewers: Viewers } | { type: 'state'; state: StreamState } | { type: 'gap' } | { type: 'hello' }

const pause_min_ms = 500
const pause_max_ms = 15_000
/** The server beats every 15 seconds: two may be late, three are not. */
const silence_max_ms = 40_000

export class Stream {
  private source: EventSource | null = null
  private last_seq: number | null = null
  private timer: ReturnType<typeof setTimeout> | undefined
  private pause_ms = pause_min_ms
  private watchdog: ReturnType<typeof setTimeout> | undefined
  /** Servers before the beat was an event are silent while nothing happens. */
  private has_beaten = false
  private state: StreamState = 'connecting'
  private is_leader = false
  private is_closed = false
  private release: () => void = () => {}
  private readonly channel: BroadcastChannel | null

  constructor(private readonly listener: StreamListener) {
    this.channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel('holdpoint.events') : null
    if (this.channel) this.channel.onmessage = (message: MessageEvent<Message>) => this.hear(message.data)
    if (this.channel && navigator.locks) {
      this.channel.postMessage({ type: 'hello' } satisfies Message)
      void navigator.locks.request('holdpoint.stream', () => this.lead())
    } else {
      void this.lead()
    }
  }

  close(): void {
    this.is_closed = true
    this.drop()
    this.channel?.close()
    this.release()
  }

  private lead(): Promise<void> {
    if (this.is_closed) return Promise.resolve()
    this.is_leader = true
    this.open()
    return new Promise((resolve) => (this.release = resolve))
  }

  private hear(message: Message): void {
    if (message.type === 'hello') {
      if (this.is_leader) this.say({ type: 'state', state: this.state })
    } else if (!this.is_leader) {
      if (message.type === 'event') this.take(message.event)
      else if (message.type === 'presence') this.listener.onPresence(message.viewers)
      else if (message.type === 'gap') this.listener.onGap()
      else this.listener.onState((this.state = message.state))
    }
  }

  private say(message: Message): void {
    this.channel?.postMessage(message)
  }

  private take(event: Event): void {
    if (this.last_seq !== null && event.seq <= this.last_seq) return
    this.last_seq = event.seq
    this.listener.onEvent(event)
  }

  private become(state: StreamState): void {
    if (state === this.state) return
    this.state = state
    this.listener.onState(state)
    this.say({ type: 'state', state })
  }

  private open(): void {
    const resumes = this.last_seq !== null
    // Reconnecting is done here and not by the EventSource: it gives up for good on a 503.
    this.source = new EventSource(resumes ? `/v1/events?last_event_id=${this.last_seq}` : '/v1/events')
    this.watch()
    this.source.onopen = () => {
      this.noteLife()
      this.pause_ms = pause_min_ms
      this.become('live')
      if (resumes) return
      this.listener.onGap()
      this.say({ type: 'gap' })
    }
    this.source.onerror = () => this.retry()
    this.source.addEventListener('reconnect', () => this.retry())
    this.source.addEventListener('beat', () => {
      this.has_beaten = true
      this.noteLife()
    })
    this.source.addEventListener('presence', (message: MessageEvent<string>) => {
      this.noteLife()
      const viewers = JSON.parse(message.data) as Viewers
      this.listener.onPresence(viewers)
      this.say({ type: 'presence', viewers })
    })
    for (const name of event_names)
      this.source.addEventListener(name, (message: MessageEvent<string>) => {
        this.noteLife()
        const event = JSON.parse(message.data) as Event
        this.take(event)
        this.say({ type: 'event', event })
      })
  }

  private noteLife(): void {
    clearTimeout(this.watchdog)
    if (this.has_beaten) this.watch()
  }

  private watch(): void {
    this.watchdog = setTimeout(() => this.retry(), silence_max_ms)
  }

  private drop(): void {
    clearTimeout(this.timer)
    clearTimeout(this.watchdog)
    this.source?.close()
    this.source = null
  }

  private retry(): void {
    this.drop()
    if (this.is_closed) return
    // Told each time, not only the first: whoever listens asks whether the session has ended meanwhile.
    if (this.state === 'lost') this.listener.onState('lost')
    else this.become('lost')
    // Spread out, so that a thousand pages do not come back in the same instant.
    this.timer = setTimeout(() => this.open(), this.pause_ms * (0.75 + Math.random() / 2))
    this.pause_ms = Math.min(this.pause_ms * 2, pause_max_ms)
  }
}
