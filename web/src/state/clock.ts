// One clock for every countdown on the page.
import { serverNow } from '../model/time'
import { useOutside } from './store'

const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let now = serverNow()

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    now = serverNow()
    timer = setInterval(() => {
      now = serverNow()
      listeners.forEach((tell) => tell())
    }, 1000)
  }
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) clearInterval(timer)
  }
}

/** What `choose` makes of the server's time. It is asked every second, and only what has changed is drawn anew. */
export const useNow = <T>(choose: (now: number) => T): T => useOutside(subscribe, () => choose(listeners.size ? now : serverNow()))
