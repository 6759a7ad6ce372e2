// The live stream of events. Tabs share one connection, because browsers open only six to a server: whoever holds the
// lock listens and passes events on. A connection that broke goes on after the last event seen; one that is silent for longer
// than the server ever is broke too, although nobody said so, and from a tab that answers no more another one takes the lock.
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

const lock = 'holdpoint.stream'
const pause_min_ms = 500
const pause_max_ms = 15_000
/** The server beats every 15 seconds: two may be late, three are not. */
const silence_max_ms = 40_000
/** Another tab answers at once, unless it is just being drawn. */
const answer_max_ms = 10_000

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
  /** How often this tab came to lead. */
  private term = 0
  private is_closed = false
  private release: () => void = () => {}
  private readonly channel: BroadcastChannel | null

  constructor(private readonly listener: StreamListener) {
    this.channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel('holdpoint.events') : null
    if (this.channel) this.channel.onmessage = (message: MessageEvent<Message>) => this.hear(message.data)
    if (this.channel && navigator.locks) {
      this.follow()
      this.hold(false)
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

  private follow(): void {
    this.is_leader = false
    this.ask()
  }

  /** How it stands, of whoever listens for all. Who does not answer hangs. */
  private ask(): void {
    this.watchdog = setTimeout(() => this.retry(), answer_max_ms)
    this.say({ type: 'hello' })
  }

  /** Waits for the lock, or takes it from a tab that is not heard any more. */
  private hold(steal: boolean): void {
    let term = this.term
    navigator.locks
      .request(lock, { steal }, () => {
        term = ++this.term
        return this.lead()
      })
      .catch((error: Error) => {
        if (this.is_closed || error.name !== 'AbortError') return
        if (!steal) this.hold(false)
        // Taken away, because nothing was heard from here: what the other one passed on meanwhile must be read.
        if (term !== this.term) return
        this.drop()
        this.follow()
        this.listener.onGap()
      })
  }

  private lead(): Promise<void> {
    if (this.is_closed) return Promise.resolve()
    this.is_leader = true
    this.drop()
    this.open()
    return new Promise((resolve) => (this.release = resolve))
  }

  private hear(message: Message): void {
    if (message.type === 'hello') {
      if (this.is_leader) this.say({ type: 'state', state: this.state })
    } else if (!this.is_leader) {
      this.noteLife()
      if (message.type === 'event') this.take(message.event)
      else if (message.type === 'presence') this.listener.onPresence(message.viewers)
      else if (message.type === 'gap') this.listener.onGap()
      else if (message.state !== this.state) this.listener.onState((this.state = message.state))
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
    if (!this.is_leader || this.has_beaten) this.watch()
  }

  private watch(): void {
    this.watchdog = this.is_leader ? setTimeout(() => this.retry(), silence_max_ms) : setTimeout(() => this.ask(), silence_max_ms - answer_max_ms)
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
    if (!this.is_leader) return this.hold(true)
    // Spread out, so that a thousand pages do not come back in the same instant.
    this.timer = setTimeout(() => this.open(), this.pause_ms * (0.75 + Math.random() / 2))
    this.pause_ms = Math.min(this.pause_ms * 2, pause_max_ms)
  }
}
