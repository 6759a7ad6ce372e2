// Keys of the page. One listener; whoever was mounted last is asked first. Typing in a field and open dialogs own the
// keyboard (what is bound inside a dialog is heard there), and single letters can be switched off: people who speak to their computer would else decide by talking.
import { createContext, useContext, useLayoutEffect, useRef, type RefObject } from 'react'
import { useSettings } from './settings'

/** By their names; `any` is every other one that writes something. */
export type KeyMap = Record<string, (event: KeyboardEvent) => void>

/** The dialog in which keys are bound; outside of any they are those of the page. */
export const KeyScope = createContext<RefObject<HTMLElement | null> | null>(null)

const stack: { latest: { current: KeyMap }; scope: RefObject<HTMLElement | null> | null }[] = []

/** What a press changes and no letter does. */
const ticks = ':is([type=checkbox], [type=radio], [type=file])'

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches(`textarea, select, input:not(${ticks})`))

/** The name of a key press: letters by Shift and not by Caps Lock. */
export function keyName(event: { key: string; shiftKey: boolean }): string {
  if (!/^\p{L}$/u.test(event.key)) return event.key
  return event.shiftKey ? event.key.toUpperCase() : event.key.toLowerCase()
}

/** Enter belongs to what has the focus, if it does something there. */
const isPressable = (target: EventTarget | null): boolean => target instanceof Element && target.closest(`a[href], button, summary, ${ticks}`) !== null

/** Arrows and Space scroll what has the focus: only where nothing has it are they keys of the page. */
const isScrolling = ({ target }: Event, name: string): boolean => /^(?:Arrow.*| )$/.test(name) && target instanceof HTMLElement && target !== document.body

/** The last key in a field that nobody has left since, and when something was last typed for it. */
let typed: KeyboardEvent | null = null
let typed_at = 0
const pause_ms = 1000

/** Whether it led out of the field. An Enter of which nothing made use is a new line, where there are lines. */
const isLeaving = ({ key, target, defaultPrevented }: KeyboardEvent): boolean =>
  key.length > 1 && (defaultPrevented || /^(?:Escape|Tab)$/.test(key) || (key === 'Enter' && (target as Element).tagName === 'INPUT'))

// A field vanishes under the fingers where somebody else decides or changes what is written about. What is still typed then is no key
// of the page, until there is a pause.
function onTyping(event: KeyboardEvent | PointerEvent): void {
  if (!('key' in event)) typed = null
  else if (isTyping(event.target)) {
    typed = event
    typed_at = event.timeStamp
  } else if (typed && event.key.length === 1 && !event.ctrlKey && !event.metaKey && !isLeaving(typed) && event.timeStamp < typed_at + pause_ms) {
    typed_at = event.timeStamp
    event.preventDefault()
  }
}

function onKeyDown(event: KeyboardEvent): void {
  const is_button = isPressable(event.target)
  // A held Enter would press the button of the next request as well.
  if (event.repeat && is_button && (event.key === 'Enter' || event.key === ' ')) return event.preventDefault()
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  const dialog = [...document.querySelectorAll('dialog:modal')].at(-1) ?? null
  const name = keyName(event)
  if (name !== 'Escape' && (isTyping(event.target) || !useSettings.getState().shortcuts)) return
  if (isScrolling(event, name) || (is_button && name === 'Enter')) return
  for (let i = stack.length - 1; i >= 0; --i) {
    const { latest, scope } = stack[i]!
    const act = latest.current[name] ?? (name.length === 1 ? latest.current['any'] : undefined)
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
    // However often, each is added once; what is typed is seen before anything in the page keeps it for itself.
    addEventListener('keydown', onTyping, true)
    addEventListener('pointerdown', onTyping, true)
    addEventListener('keydown', onKeyDown)
    const entry = { latest, scope }
    stack.push(entry)
    return () => void stack.splice(stack.indexOf(entry), 1)
  }, [])
}
