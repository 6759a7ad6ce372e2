// A list of any length of which only the visible rows exist. Rows have one height, so where each stands is arithmetic.
import { useCallback, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'

type Props = {
  ids: string[]
  selected: string | null
  row_height: number
  label: string
  render: (index: number) => ReactNode
  onKeyDown: (event: KeyboardEvent) => void
  /** Which rows can be seen. */
  onView: (first: number, last: number) => void
}

/** So many rows beyond the edges are there before they are scrolled to; not yet in the first picture. */
const margin = 4

export function VirtualList({ ids, selected, row_height, label, render, onKeyDown, onView }: Props) {
  const box = useRef<HTMLDivElement>(null)
  // Until the browser has told: asking it right after a change would make it lay the page out twice.
  const [view, setView] = useState({ top: 0, height: 640, margin: 0 })
  const latest = useRef({ top: 0, height: 640, is_measured: false })
  const anchor = useRef<{ id: string; offset: number } | null>(null)

  const note = useCallback((top: number, height: number) => {
    latest.current = { top, height, is_measured: true }
    setView((old) => (old.top === top && old.height === height && old.margin === margin ? old : { top, height, margin }))
  }, [])
  const measure = useCallback(() => {
    if (box.current) note(box.current.scrollTop, box.current.clientHeight)
  }, [note])
  const scrollTo = (element: HTMLElement, top: number) => {
    element.scrollTop = top
    measure()
  }

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [measure])

  const index = selected ? ids.indexOf(selected) : -1
  const first = Math.max(0, Math.floor(view.top / row_height))
  const last = Math.min(ids.length - 1, Math.ceil((view.top + view.height) / row_height) - 1)

  // What a person looks at must not move: when rows come or go above, the scroll position moves with them.
  useLayoutEffect(() => {
    const held = anchor.current
    if (!box.current || !held) return
    const at = ids.indexOf(held.id)
    const wanted = at * row_height - held.offset
    if (at >= 0 && latest.current.top !== wanted) scrollTo(box.current, wanted)
  }, [ids, row_height])

  useLayoutEffect(() => {
    const is_cursor_visible = index >= first && index <= last
    const at = is_cursor_visible ? index : first
    const id = ids[at]
    anchor.current = id ? { id, offset: at * row_height - latest.current.top } : null
    onView(first, last)
  })

  // The cursor moved: bring it into view.
  useLayoutEffect(() => {
    const element = box.current
    if (!element || index < 0) return
    if (!latest.current.is_measured) measure()
    const wanted = index * row_height
    const { top, height } = latest.current
    if (wanted < top) scrollTo(element, wanted)
    else if (wanted + row_height > top + height) scrollTo(element, wanted + row_height - height)
    // Only when the cursor moves, not when rows move under it.
  }, [selected])

  const shown: number[] = []
  for (let i = Math.max(0, first - view.margin); i <= Math.min(ids.length - 1, last + view.margin); ++i) shown.push(i)
  // The active row exists even when it is scrolled away: assistive technology asks for it by its id.
  if (index >= 0 && !shown.includes(index)) shown.push(index)

  return (
    <div
      ref={box}
      id="requests"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-multiselectable="true"
      aria-activedescendant={index >= 0 ? `row-${selected}` : undefined}
      onScroll={measure}
      onKeyDown={onKeyDown}
      className="relative min-h-0 flex-1 overflow-y-auto overscroll-contain focus-visible:-outline-offset-2"
    >
      <div role="presentation" className="relative" style={{ height: ids.length * row_height }}>
        {shown.map((i) => (
          <div key={ids[i]} role="presentation" className="absolute inset-x-0" style={{ transform: `translateY(${i * row_height}px)`, height: row_height }}>
            {render(i)}
          </div>
        ))}
      </div>
    </div>
  )
}
