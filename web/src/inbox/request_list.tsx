// The rows of what waits, and word of those that came in above. What is in view is kept here: scrolling redraws the list
// and nothing beside it.
import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react'
import type { Row } from '../model/group'
import { forgetArrivals, noteSeen, useInbox, wantInbox } from '../state/inbox'
import { useMe } from '../state/session'
import { useSettings } from '../state/settings'
import { UpIcon } from '../ui/icons'
import { RequestRow } from './row'
import { VirtualList } from './virtual_list'

type Props = { rows: Row[]; ids: string[]; selected: string | null; is_marking: boolean; onPick: (id: string) => void; onKeyDown: (event: KeyboardEvent) => void }

export function RequestList({ rows, ids, selected, is_marking, onPick, onKeyDown }: Props) {
  const me = useMe()
  const marked = useInbox((inbox) => inbox.marked)
  const arrived = useInbox((inbox) => inbox.arrived)
  const compact = useSettings((settings) => settings.compact)
  const [view, setView] = useState({ first: 0, last: 0 })
  // Known before it is drawn: what came in above has not been seen, although it stands where the first row was.
  const in_view = useRef(view)
  const onView = useCallback((first: number, last: number) => {
    in_view.current = { first, last }
    setView((old) => (old.first === first && old.last === last ? old : in_view.current))
  }, [])
  const new_above = useMemo(() => (arrived.size === 0 ? 0 : rows.slice(0, view.first).filter((one) => one.type === 'one' && arrived.has(one.id)).length), [rows, view.first, arrived])
  useEffect(wantInbox, [])
  useEffect(() => {
    if (arrived.size > 0) noteSeen(ids.slice(in_view.current.first, in_view.current.last + 1))
  }, [view, ids, arrived])
  return (
    <>
      {new_above > 0 && (
        <button
          type="button"
          className="rising absolute left-1/2 top-32 z-10 flex min-h-8 -translate-x-1/2 items-center gap-1.5 rounded-full bg-ink px-3.5 text-[0.8125rem] font-medium text-sheet shadow-lg"
          onClick={() => {
            document.getElementById('requests')?.scrollTo({ top: 0 })
            forgetArrivals()
          }}
        >
          <UpIcon /> {new_above} new above
        </button>
      )}
      <VirtualList
        ids={ids}
        selected={selected}
        row_height={compact ? 40 : 64}
        label="Requests that wait"
        onKeyDown={onKeyDown}
        onView={onView}
        render={(i) => (
          <RequestRow row={rows[i]!} me={me.name} index={i} total={rows.length} is_selected={ids[i] === selected} is_marked={marked.has(ids[i]!)} is_marking={is_marking} is_compact={compact} onPick={onPick} />
        )}
      />
    </>
  )
}
