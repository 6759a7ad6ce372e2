// Keys of the page. One listener; whoever was mounted last is asked first. Typing in a field and open dialogs own the
// keyboard (what is bound inside a dialog is heard there), and single letters can be switched off: people who speak to their computer would else decide by talking.
import { createContext, useContext, useLayoutEffect, useRef, type RefObject } from 'react'
import { useSettings } from './settings'

export type KeyMap = Record<string, (event: KeyboardEvent) => void>

/** The dialog in which keys are bound; outside of any they are those of the page. */
export const KeyScope = createContext<RefObject<HTMLElement | null> | null>(null)

const stack: { latest: { current: KeyMap }; scope: RefObject<HTMLElement | null> | null }[] = []

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** The name of a key press: letters by Shift and not by Caps Lock. */
export function keyName(event: { key: string; shiftKey: boolean }): string {
  if (!/^\p{L}$/u.test(event.key)) return event.key
  return event.shiftKey ? event.key.toUpperCase() : event.key.toLowerCase()
}

/** Enter and Space belong to what has the focus, if they do something there. */
const isPressable = (target: EventTarget | null): boolean => target instanceof Element && target.closest('a[href], button, summary') !== null

function onKeyDown(event: KeyboardEvent): void {
  const is_button = isPressable(event.target)
  // A held Enter would press the button of the next request as well.
  if (event.repeat && is_button && (event.key === 'Enter' || event.key === ' ')) return event.preventDefault()
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  const dialog = [...document.querySelectorAll('dialog:modal')].at(-1) ?? null
  const name = keyName(event)
  if (name !== 'Escape' && (isTyping(event.target) || !useSettings.getState().shortcuts)) return
  if (is_button && (name === 'Enter' || name === ' ')) return
  for (let i = stack.length - 1; i >= 0; --i) {
    const { latest, scope } = stack[i]!
    const act = latest.current[name]
    if (!act || (scope?.current ?? null) !== dialog) continue
    event.preventDefault()
    return act(event)
  }
}

/** Binds keys while the component is on the page. */
export function useKeys(map: KeyMap): void {
  const latest = useRef(map)
  // With what stands on the page, and not with what is being made for it.
  useLayoutEffect(() => void (latest.current = map))
  const scope = useContext(KeyScope)
  // Bound and let go together with what is drawn: other effects may come later, and a key before them would act for what is gone.
  useLayoutEffect(() => {
    if (stack.length === 0) window.addEventListener('keydown', onKeyDown)
    const entry = { latest, scope }
    stack.push(entry)
    return () => {
      stack.splice(stack.indexOf(entry), 1)
      if (stack.length === 0) window.removeEventListener('keydown', onKeyDown)
    }
  }, [])
}
