// Parts of the page that are fetched when they are needed, or a little before.
import { lazy, useState, type ComponentType } from 'react'
import { tell } from '../state/notices'

const pause_ms = 2000

/** Loads, again and again until it succeeds: a connection may be lost just then. Says so once if it does not at first. */
async function insist<T>(load: () => Promise<T>): Promise<T> {
  for (let is_first = true; ; is_first = false) {
    try {
      return await load()
    } catch {
      if (is_first) tell('A part of this page could not be read. It is tried again; if that does not help, load the page anew.', { tone: 'bad' })
      await new Promise((resolve) => setTimeout(resolve, pause_ms))
    }
  }
}

// Until the summer of 2026 browsers kept in mind for as long as the page stood that a file could not be read, and asked for it no
// more. Under another name they do; what follows the `#` is not sent.
const addressIn = (error: unknown): string | null => (error instanceof Error ? (/https?:\/\/\S+\.js(?=#|$)/.exec(error.message)?.[0] ?? null) : null)

export type Later<P> = ComponentType<P> & {
  /** Fetches it ahead of its use; a failure then matters to nobody. */
  fetch: () => Promise<void>
}

/** A component in a file of its own. Once that is here it is drawn like any other, without the wait that `lazy` always makes. */
export function later<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): Later<P> {
  let here: ComponentType<P> | null = null
  let failed: string | null = null
  let times = 0
  const bring = async () => {
    if (here) return { default: here }
    try {
      const module: { default: ComponentType<P> } = await (failed ? import(/* @vite-ignore */ `${failed}#${++times}`) : load())
      // Of two that came the first one stays.
      here ??= module.default
      return { default: here }
    } catch (error) {
      failed ??= addressIn(error)
      throw error
    }
  }
  const Lazy = lazy(() => insist(bring)) as unknown as ComponentType<P>
  const Part = (props: P) => {
    // Chosen once: another component in its place would forget what a person typed into it.
    const [Chosen] = useState<ComponentType<P>>(() => here ?? Lazy)
    return <Chosen {...props} />
  }
  return Object.assign(Part, { fetch: () => bring().then(() => undefined, () => undefined) })
}
