// Keys of the page. One listener; whoever was mounted last is asked first. Typing in a field and open dialogs own the
// keyboard, and single letters can be switched off: people who speak to their computer would else decide by talking.
import { useEffect, useRef } from 'react'
import { useSettings } from './settings'

export type KeyMap = Record<string, (event: KeyboardEvent) => void>

const stack: { current: KeyMap }[] = []

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
  if (document.querySelector('dialog:modal')) return
  const name = keyName(event)
  if (name !== 'Escape' && (isTyping(event.target) || !useSettings.getState().shortcuts)) return
  if (is_button && (name === 'Enter' || name === ' ')) return
  for (let i = stack.length - 1; i >= 0; --i) {
    const act = stack[i]!.current[name]
    if (!act) continue
    event.preventDefault()
    return act(event)
  }
}

/** Binds keys while the component is on the page. */
export function useKeys(map: KeyMap): void {
  const latest = useRef(map)
  latest.current = map
  useEffect(() => {
    if (stack.length === 0) window.addEventListener('keydown', onKeyDown)
    stack.push(latest)
    return () => {
      stack.splice(stack.indexOf(latest), 1)
      if (stack.length === 0) window.removeEventListener('keydown', onKeyDown)
    }
  }, [])
}
