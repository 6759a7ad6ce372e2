// @vitest-environment jsdom
import { act, startTransition, Suspense, use, useLayoutEffect } from 'react'
import { createRoot } from 'react-dom/client'
import { expect, it, vi } from 'vitest'
import { useKeys } from './keys'

it('a key acts for what stands on the page, not for what is being made for it', async () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true)
  // What is being made is never finished.
  const never = new Promise<void>(() => {})
  const pressed: string[] = []
  const Request = ({ id }: { id: string }) => {
    useKeys({ a: () => pressed.push(id) })
    if (id === 'next') use(never)
    return id
  }
  const page = (id: string) => (
    <Suspense>
      <Request id={id} />
    </Suspense>
  )
  const box = document.createElement('div')
  const root = createRoot(box)
  await act(async () => root.render(page('this')))
  await act(async () => startTransition(() => root.render(page('next'))))
  expect(box.textContent).toBe('this')
  window.dispatchEvent(new KeyboardEvent('keydown', { key: 'a' }))
  expect(pressed).toEqual(['this'])
  await act(async () => root.unmount())
})

it('a key acts for nothing that is gone, from the very moment', async () => {
  const pressed: string[] = []
  const Request = () => {
    useKeys({ a: () => pressed.push('gone') })
    return 'request'
  }
  // Whoever presses as soon as the page has changed.
  const After = () => {
    useLayoutEffect(() => void window.dispatchEvent(new KeyboardEvent('keydown', { key: 'a' })), [])
    return 'after'
  }
  const root = createRoot(document.createElement('div'))
  await act(async () => root.render(<Request />))
  await act(async () => startTransition(() => root.render(<After />)))
  expect(pressed).toEqual([])
  await act(async () => root.unmount())
})

it('U2 a box or a dot that has the focus keeps Space, Enter and arrows; letters are keys of the page', async () => {
  const pressed: string[] = []
  const Page = () => {
    useKeys({ a: () => pressed.push('a'), ' ': () => pressed.push(' '), Enter: () => pressed.push('Enter'), ArrowDown: () => pressed.push('ArrowDown') })
    return ['checkbox', 'radio', 'file', 'text'].map((type) => <input key={type} type={type} />)
  }
  const box = document.body.appendChild(document.createElement('div'))
  const root = createRoot(box)
  await act(async () => root.render(<Page />))
  for (const field of box.querySelectorAll('input')) {
    for (const key of ['a', ' ', 'Enter', 'ArrowDown']) field.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
    expect(pressed.splice(0), field.type).toEqual(field.type === 'text' ? [] : ['a'])
    // A field for text takes what is held.
    const held = new KeyboardEvent('keydown', { key: ' ', repeat: true, bubbles: true, cancelable: true })
    field.dispatchEvent(held)
    expect(held.defaultPrevented, field.type).toBe(field.type !== 'text')
  }
  await act(async () => root.unmount())
  box.remove()
})

it('D4 while something is fetched in which one writes already, no letter is a key of the page', async () => {
  const pressed: string[] = []
  const Wait = () => {
    useKeys({ any: () => undefined })
    return null
  }
  const Page = ({ is_waiting = false }) => {
    useKeys({ r: () => pressed.push('r'), Escape: () => pressed.push('Escape') })
    return is_waiting && <Wait />
  }
  const root = createRoot(document.createElement('div'))
  await act(async () => root.render(<Page />))
  await act(async () => root.render(<Page is_waiting />))
  for (const key of ['r', 'Escape']) window.dispatchEvent(new KeyboardEvent('keydown', { key }))
  expect(pressed).toEqual(['Escape'])
  await act(async () => root.unmount())
})

it('what is typed for a field that vanished is no key of the page, until there is a pause', async () => {
  const pressed: string[] = []
  const Page = ({ has_field = true }) => {
    useKeys({ a: () => pressed.push('a'), j: () => pressed.push('j'), ' ': () => pressed.push(' ') })
    return has_field && <textarea onKeyDown={(event) => /Escape|1/.test(event.key) && (event.preventDefault(), event.stopPropagation())} />
  }
  const box = document.body.appendChild(document.createElement('div'))
  const root = createRoot(box)
  let clock = 10_000
  const press = (key: string, after_ms: number, more: KeyboardEventInit = {}) => {
    const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more })
    Object.defineProperty(event, 'timeStamp', { value: (clock += after_ms) })
    ;(box.querySelector('textarea') ?? document.body).dispatchEvent(event)
    return event
  }
  const typeAndVanish = async (...keys: string[]) => {
    await act(async () => root.render(<Page />))
    for (const key of keys) press(key, 100)
    await act(async () => root.render(<Page has_field={false} />))
  }

  for (const last of ['x', 'Backspace', 'Enter', '1']) {
    await typeAndVanish('n', last)
    // Each of them prolongs it.
    for (const key of ['j', 'a', ' ', 'a']) expect(press(key, 800).defaultPrevented).toBe(true)
    expect(press('c', 100, { ctrlKey: true }).defaultPrevented, 'to copy is not to type').toBe(false)
    expect(pressed).toEqual([])
    press('a', 1100)
    expect(pressed.splice(0), `after a pause, ${last}`).toEqual(['a'])
  }
  // Whoever leaves it goes on at once.
  for (const last of ['Escape', 'Tab']) {
    await typeAndVanish('n', last)
    press('a', 100)
    expect(pressed.splice(0), last).toEqual(['a'])
  }
  await typeAndVanish('n')
  document.body.dispatchEvent(new Event('pointerdown', { bubbles: true }))
  press('j', 100)
  expect(pressed).toEqual(['j'])
  await act(async () => root.unmount())
  box.remove()
})
