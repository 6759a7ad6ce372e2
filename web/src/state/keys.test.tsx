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
