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

export type Later<P> = ComponentType<P> & {
  /** Fetches it ahead of its use; a failure then matters to nobody. */
  fetch: () => Promise<void>
}

/** A component in a file of its own. Once that is here it is drawn like any other, without the wait that `lazy` always makes. */
export function later<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): Later<P> {
  let here: ComponentType<P> | null = null
  const bring = async () => {
    const module = await load()
    here = module.default
    return module
  }
  const Lazy = lazy(() => insist(bring)) as unknown as ComponentType<P>
  const Part = (props: P) => {
    // Chosen once: another component in its place would forget what a person typed into it.
    const [Chosen] = useState<ComponentType<P>>(() => here ?? Lazy)
    return <Chosen {...props} />
  }
  return Object.assign(Part, { fetch: () => bring().then(() => undefined, () => undefined) })
}
