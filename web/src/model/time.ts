// Times as people read them. The server's clock counts: its deadlines are compared with `serverNow()`.

let skew_ms = 0

/** Notes the `Date` of an answer. It has whole seconds, so small differences mean nothing. */
export function noteServerDate(header: string | null, now = Date.now()): void {
  if (!header) return
  const server = Date.parse(header)
  if (Number.isNaN(server)) return
  const found = server + 500 - now
  skew_ms = Math.abs(found) > 1500 ? found : 0
}

export const serverNow = (): number => Date.now() + skew_ms

/** `4:12`, `1 h 05`, `3 d`; zero and less is `now`. */
export function formatLeft(ms: number): string {
  if (ms <= 0) return '0:00'
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')}`
  return `${Math.floor(minutes / 1440)} d`
}

/** `12 s`, `4 min`, `3 h 20 min`, `2 d`. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`
  return `${Math.round(hours / 24)} d`
}

export function formatAgo(at: string, now = serverNow()): string {
  const ms = now - Date.parse(at)
  return ms < 5000 ? 'just now' : `${formatSpan(ms)} ago`
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const two = (number: number): string => String(number).padStart(2, '0')

/** The time of day, with the date unless it is today. */
export function formatMoment(at: string, now = Date.now()): string {
  const moment = new Date(at)
  const clock = `${two(moment.getHours())}:${two(moment.getMinutes())}:${two(moment.getSeconds())}`
  if (moment.toDateString() === new Date(now).toDateString()) return clock
  return `${moment.getDate()} ${months[moment.getMonth()]} ${moment.getFullYear()}, ${clock}`
}
