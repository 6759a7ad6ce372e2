// State that lives outside of React, read in a way that React may take in slices. `useSyncExternalStore` makes the page anew in one go
// whenever anything is heard, and once more if something is heard while it is being made: on a phone that is a page which does
// not answer. Here a change inside `startTransition` waits its turn and is drawn piece by piece; any other is drawn at once.
import { startTransition, useEffect, useLayoutEffect, useReducer, useRef } from 'react'
import { createStore, type StateCreator, type StoreApi } from 'zustand/vanilla'

const count = (times: number): number => times + 1

/**
 * What `read` gives, now and whenever `subscribe` tells of a change. Whatever is drawn, for whichever reason, is drawn from what is
 * known by then. Give the same `subscribe` each time; `read` gives the same as long as nothing changed.
 */
export function useOutside<T>(subscribe: (tell: () => void) => () => void, read: () => T, isSame: (a: T, b: T) => boolean = Object.is): T {
  const [, drawAnew] = useReducer(count, 0)
  const value = read()
  // What stands on the page, not what is being made for it.
  const shown = useRef({ read, value, isSame })
  useLayoutEffect(() => {
    shown.current = { read, value, isSame }
    // What was taken back while it was being made was no change to what stood on the page then. It is one now.
    if (!isSame(read(), value)) startTransition(drawAnew)
  })
  useEffect(() => {
    const check = () => {
      const { read, value, isSame } = shown.current
      if (!isSame(read(), value)) drawAnew()
    }
    const end = subscribe(check)
    // Something may have been told between being made and being heard.
    check()
    return end
  }, [subscribe])
  return value
}

export type UseStore<S> = StoreApi<S> & { (): S; <T>(choose: (state: S) => T): T }

/** A store, and the hook that reads a part of it. */
export function create<S>(begin: StateCreator<S>): UseStore<S> {
  const store = createStore<S>(begin)
  const useStore = <T = S>(choose?: (state: S) => T): T | S => useOutside(store.subscribe, () => (choose ? choose(store.getState()) : store.getState()))
  return Object.assign(useStore as UseStore<S>, store)
}
