// @vitest-environment jsdom
import { act, startTransition, Suspense, use, useLayoutEffect } from 'react'
import { createRoot, type Root } from 'react-dom/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { create } from './store'

type Counts = { a: number; b: number }

let root: Root
let box: HTMLElement
let useCounts: ReturnType<typeof create<Counts>>
beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true)
  box = document.createElement('div')
  root = createRoot(box)
  useCounts = create<Counts>(() => ({ a: 0, b: 0 }))
})
afterEach(() => act(() => root.unmount()))

describe('a store outside of React', () => {
  it('draws anew what has changed, and only that', () => {
    const drawn = vi.fn()
    const Shown = ({ name }: { name: keyof Counts }) => {
      drawn(name)
      return `${name}${useCounts((counts) => counts[name])} `
    }
    act(() => root.render([<Shown key="a" name="a" />, <Shown key="b" name="b" />]))
    drawn.mockClear()
    act(() => useCounts.setState({ b: 1 }))
    expect(box.textContent).toBe('a0 b1 ')
    expect(drawn.mock.calls).toEqual([['b']])
  })

  it('gives another choice its own value, however long ago that changed', () => {
    const Shown = ({ name }: { name: keyof Counts }) => useCounts((counts) => counts[name])
    act(() => root.render(<Shown name="a" />))
    act(() => useCounts.setState({ b: 7 }))
    act(() => root.render(<Shown name="b" />))
    expect(box.textContent).toBe('7')
    act(() => useCounts.setState({ b: 8 }))
    expect(box.textContent).toBe('8')
  })

  it('misses nothing that is told between being made and being heard', () => {
    const Shown = () => {
      useLayoutEffect(() => useCounts.setState({ a: 5 }), [])
      return useCounts((counts) => counts.a)
    }
    act(() => root.render(<Shown />))
    expect(box.textContent).toBe('5')
  })

  it('leaves what stands on the page until what came within a transition is ready', async () => {
    const never = new Promise<void>(() => {})
    const Shown = () => {
      const a = useCounts((counts) => counts.a)
      if (a === 1) use(never)
      return `a${a}`
    }
    await act(async () => root.render(<Suspense fallback="…"><Shown /></Suspense>))
    await act(async () => startTransition(() => useCounts.setState({ a: 1 })))
    expect(box.textContent).toBe('a0')
    await act(async () => useCounts.setState({ a: 2 }))
    expect(box.textContent).toBe('a2')
  })

  it('does not keep what was taken back while it was being drawn', async () => {
    const Shown = () => useCounts((counts) => counts.a)
    // Drawn after the other: by then the change is taken back.
    let times = 0
    const Meanwhile = () => {
      if (useCounts((counts) => counts.a) === 1 && ++times === 1) useCounts.setState({ a: 0 })
      return null
    }
    await act(async () => root.render([<Shown key="shown" />, <Meanwhile key="meanwhile" />]))
    await act(async () => startTransition(() => useCounts.setState({ a: 1 })))
    expect(times).toBe(1)
    expect(box.textContent).toBe('0')
  })
})
