import { useEffect, useRef, useState } from 'react'
import { MoreIcon } from './icons'
import { Key } from './parts'

/** What is needed less often, behind one button. */
export function Menu({ items }: { items: { label: string; key: string; onPick: () => void }[] }) {
  const [is_open, open] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!is_open) return
    const close = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) open(false)
    }
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape') {
        // It closes this and nothing else.
        event.preventDefault()
        event.stopPropagation()
        open(false)
        button.current?.focus()
      }
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      if (by === undefined || !box.current?.contains(document.activeElement)) return
      event.preventDefault()
      event.stopPropagation()
      const all = [...box.current.querySelectorAll<HTMLElement>('li button')]
      const at = all.indexOf(document.activeElement as HTMLElement)
      all[(at < 0 && by < 0 ? all.length - 1 : at + by + all.length) % all.length]?.focus()
    }
    window.addEventListener('pointerdown', close)
    window.addEventListener('focusin', close)
    window.addEventListener('keydown', onKey, true)
    return () => {
      window.removeEventListener('pointerdown', close)
      window.removeEventListener('focusin', close)
      window.removeEventListener('keydown', onKey, true)
    }
  }, [is_open])
  return (
    <div ref={box} className="relative ml-auto md:ml-0">
      <button ref={button} type="button" data-opens="menu" className="btn min-h-11 px-3 md:min-h-10" aria-expanded={is_open} aria-label="More decisions" onClick={() => open(!is_open)}>
        <MoreIcon />
        <span className="hidden sm:max-md:inline lg:inline">More</span>
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
