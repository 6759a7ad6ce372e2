import { useEffect, useRef, useState } from 'react'
import { MoreIcon } from './icons'
import { Key } from './parts'

/** What is needed less often, behind one button. */
export function Menu({ items }: { items: { label: string; key: string; onPick: () => void }[] }) {
  const [is_open, open] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!is_open) return
    const close = (event: Event) => {
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : !box.current?.contains(event.target as Node)) open(false)
    }
    window.addEventListener('pointerdown', close)
    window.addEventListener('keydown', close, true)
    return () => {
      window.removeEventListener('pointerdown', close)
      window.removeEventListener('keydown', close, true)
    }
  }, [is_open])
  return (
    <div ref={box} className="relative">
      <button type="button" className="btn min-h-11 px-3 md:min-h-10" aria-expanded={is_open} aria-label="More decisions" onClick={() => open(!is_open)}>
        <MoreIcon />
        <span className="hidden sm:inline">More</span>
      </button>
      {is_open && (
        <ul className="rising absolute bottom-full right-0 z-10 mb-2 w-64 list-none rounded-lg border border-line bg-sheet p-1.5 shadow-xl md:left-0 md:right-auto">
          {items.map((item) => (
            <li key={item.label}>
              <button
                type="button"
                className="flex min-h-11 w-full items-center justify-between rounded-md px-3 text-left hover:bg-well md:min-h-9"
                onClick={() => {
                  open(false)
                  item.onPick()
                }}
              >
                {item.label} <Key name={item.key} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
