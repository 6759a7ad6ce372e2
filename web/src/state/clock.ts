// One clock for every countdown on the page.
import { useSyncExternalStore } from 'react'
import { serverNow } from '../model/time'

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

/** The server's time, renewed every second. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now)
