// A list of any length of which only the visible rows exist. Rows have one height, so where each stands is arithmetic.
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'

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
  const held = useRef<{ id: string; offset: number }[]>([])
  const inner = useRef<HTMLDivElement>(null)
  /** How high the content is at least: a short list cannot be scrolled, and its rows must stay where they are all the same. */
  const [room, setRoom] = useState(0)
  /** Where the pointer is, as long as it was used last. */
  const pointer = useRef<number | null>(null)

  const note = useCallback((top: number, height: number) => {
    latest.current = { top, height, is_measured: true }
    setRoom((old) => Math.min(old, top + height))
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
  const span = ({ top, height }: { top: number; height: number }) => ({
    first: Math.max(0, Math.floor(top / row_height)),
    last: Math.min(ids.length - 1, Math.ceil((top + height) / row_height) - 1),
  })
  const { first, last } = span(view)

  // What a person looks at must not move: when rows come or go above, the scroll position moves with them.
  useLayoutEffect(() => {
    const kept = held.current.find(({ id }) => ids.includes(id))
    if (!box.current || !inner.current || !kept) return setRoom(0)
    const wanted = Math.max(0, ids.indexOf(kept.id) * row_height - kept.offset)
    const { top, height } = latest.current
    const needed = wanted > 0 && wanted + height > ids.length * row_height ? wanted + height : 0
    setRoom(needed)
    if (top === wanted) return
    // Now, not when it is drawn next: what is not there cannot be scrolled to.
    if (needed) inner.current.style.height = `${needed}px`
    scrollTo(box.current, wanted)
  }, [ids, row_height])

  /** What stays: the row under the pointer or else the cursor; if that has gone, the next one below it, or above. */
  const hold = () => {
    const { top } = latest.current
    const { first, last } = span(latest.current)
    const pointed = pointer.current === null ? -1 : Math.floor((top + pointer.current) / row_height)
    const at = [pointed, index].find((one) => one >= first && one <= last) ?? first
    const seen = [...ids.slice(at, last + 1), ...ids.slice(first, at).reverse()]
    held.current = seen.map((id, i) => ({ id, offset: (i <= last - at ? at + i : last - i) * row_height - top }))
  }
  useLayoutEffect(() => {
    hold()
    const { first, last } = span(latest.current)
    onView(first, last)
  })
  const point = (y: number | null) => {
    pointer.current = y
    hold()
  }
  const latest_point = useRef(point)
  useLayoutEffect(() => void (latest_point.current = point))
  useEffect(() => {
    const onKey = () => latest_point.current(null)
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])

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
      onPointerMove={(event) => point(event.clientY - event.currentTarget.getBoundingClientRect().top)}
      onPointerLeave={() => point(null)}
      onKeyDown={onKeyDown}
      className="relative min-h-0 flex-1 overflow-y-auto overscroll-contain focus-visible:-outline-offset-2"
    >
      <div ref={inner} role="presentation" className="relative" style={{ height: Math.max(ids.length * row_height, room) }}>
        {shown.map((i) => (
          <div key={ids[i]} role="presentation" className="absolute inset-x-0" style={{ transform: `translateY(${i * row_height}px)`, height: row_height }}>
            {render(i)}
          </div>
        ))}
      </div>
    </div>
  )
}
