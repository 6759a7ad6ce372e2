// The inbox: what waits on the left, the request under the cursor on the right; on a phone one after the other.
import { Suspense, useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react'
import { useLocation } from 'wouter'
import { client } from '../client'
import { ServerError } from '../errors'
import { whyNotDecide } from '../model/authority'
import { isFiltering, matches, no_filter, readFilter, writeFilter, type Filter } from '../model/filter'
import { rowsOf, type Row } from '../model/group'
import { Guard, type Press } from '../model/guard'
import { inOrder, nextOrderChange } from '../model/order'
import { nextReturn } from '../model/snooze'
import { serverNow } from '../model/time'
import { grouped, plural } from '../model/words'
import { useChanged } from '../request/changed'
import { useAddressQuery } from '../state/address'
import { decide, isChange, type AskForCode, type Call } from '../state/decide'
import { clearMarks, countWaiting, lookAt, select, toggleMark, unmark, useInbox } from '../state/inbox'
import { useKeys } from '../state/keys'
import { useLoad } from '../state/load'
import { catchFocus, isPhone, useIsPhone } from '../state/phone'
import { useMe } from '../state/session'
import { useSettings } from '../state/settings'
import { isSnoozed, snooze } from '../state/snooze'
import { undoLatest } from '../state/undo'
import { ActiveGrants, BulkPane, EmptyState, RequestPane } from '../ui/deciding'
import { BackIcon } from '../ui/icons'
import { Problem, Spinner } from '../ui/parts'
import type { Request } from '../wire'
import { FilterBar } from './filter_bar'
import { RequestList } from './request_list'

/** Renewed when a request becomes urgent, so that the order follows the clock without being sorted every second. */
function useOrderTick(requests: Map<string, Request>): number {
  const [tick, setTick] = useState(0)
  useEffect(() => {
    const now = serverNow()
    const wait = Math.min(nextOrderChange(requests.values(), now), nextReturn(requests.values(), now)) - now
    if (!Number.isFinite(wait)) return
    const timer = setTimeout(() => setTick((old) => old + 1), Math.min(wait + 50, 2 ** 31 - 1))
    return () => clearTimeout(timer)
  }, [requests, tick])
  return tick
}

function useRows(filter: Filter): Row[] {
  const me = useMe()
  const requests = useInbox((inbox) => inbox.requests)
  const grouping = useSettings((settings) => settings.grouping)
  const tick = useOrderTick(requests)
  return useMemo(() => {
    const shown: Request[] = []
    for (const request of requests.values())
      if ((filter.snoozed === isSnoozed(request) || request.state === 'settled') && matches(request, filter, whyNotDecide(request, me) === null || request.state === 'settled')) shown.push(request)
    return rowsOf(inOrder(shown, serverNow(), me.name), grouping)
    // `tick` stands for the clock.
  }, [requests, filter, grouping, me, tick])
}

/** A request that is in the address but not in the list: settled long ago, filtered away, or not there. */
function useElsewhere(id: string | null, is_known: boolean): { request: Request | null; error: unknown; is_loading: boolean; is_missing: boolean } {
  const is_wanted = id !== null && id.startsWith('req_') && !is_known
  const { data, error, is_loading } = useLoad(is_wanted ? `request ${id}` : null, () => client.request(id!))
  return { request: data ?? null, error, is_loading, is_missing: error instanceof ServerError && (error.status === 404 || error.status === 400) }
}

/** False for a row that is still drawn while what it shows has gone. */
const isStanding = (row: string): boolean => row.startsWith('group ') || useInbox.getState().requests.has(row)

/** The row at a place, or else the next one that will do: below it first, or above. */
function nearest(ids: string[], at: number, will_do: (row: string) => boolean, is_up = false): string | null {
  const below = () => ids.slice(at).find(will_do)
  const above = () => ids.slice(0, at + 1).findLast(will_do)
  return (is_up ? (above() ?? below()) : (below() ?? above())) ?? null
}

// On a phone a group or a selection takes the whole page without an address of its own. It gets an entry in the history all the
// same: the system's Back leads to the list, and not out of the app.
const openedHere = (): string | null => (history.state as { open?: string } | null)?.open ?? null
const noteOpened = (what: string): void => {
  if (isPhone()) history.pushState({ open: what }, '', location.href)
}

function BackButton({ onBack }: { onBack: () => void }) {
  return (
    <button type="button" className="btn btn-quiet -ml-3 mb-2 min-h-11 px-2 text-accent md:hidden" onClick={onBack}>
      <BackIcon /> Inbox
    </button>
  )
}

function Toggle({ label, is_on, onToggle }: { label: string; is_on: boolean; onToggle: () => void }) {
  return (
    <button type="button" aria-pressed={is_on} className={`min-h-7 rounded-md px-2 text-[0.8125rem] ${is_on ? 'font-medium text-ink underline decoration-accent decoration-2 underline-offset-4' : 'text-soft hover:text-ink'}`} onClick={onToggle}>
      {label}
    </button>
  )
}

export default function InboxScreen({ id }: { id: string | null }) {
  const [, navigate] = useLocation()
  const search = useAddressQuery()
  const filter = useMemo(() => readFilter(search), [search])
  const rows = useRows(filter)
  const ids = useMemo(() => rows.map((row) => row.id), [rows])
  const requests = useInbox((inbox) => inbox.requests)
  const selected = useInbox((inbox) => inbox.selected)
  const marked = useInbox((inbox) => inbox.marked)
  const has_loaded = useInbox((inbox) => inbox.has_loaded)
  const is_complete = useInbox((inbox) => inbox.is_complete)
  const expected = useInbox((inbox) => inbox.expected)
  const { data: grants } = useLoad(has_loaded ? 'grants active' : null, () => client.grants({ limit: '1000' }), { every_ms: 30_000 })
  const grouping = useSettings((settings) => settings.grouping)
  const [is_marking, setMarking] = useState(false)
  const [is_bulk, setBulk] = useState(false)
  const guard = useRef(new Guard())

  // The cursor is the truth on this screen and the address follows it: a browser allows only so many changes of the
  // address per minute, and a held arrow key makes more.
  useEffect(() => {
    if (id !== null && id !== useInbox.getState().selected) lookAt(id)
  }, [id])
  const looks = useInbox((inbox) => inbox.looks)
  useEffect(() => setBulk(false), [looks])
  useEffect(() => guard.current.moved(performance.now()), [selected])
  useEffect(() => {
    if (isPhone()) return
    const timer = setTimeout(() => {
      // The cursor may have gone on and not be drawn yet.
      if (useInbox.getState().selected !== selected) return
      const path = selected?.startsWith('req_') ? `/r/${selected}` : '/'
      if (location.pathname !== path) navigate(path + location.search, { replace: true })
    }, 150)
    return () => clearTimeout(timer)
  }, [selected, navigate])
  useEffect(() => {
    // Asked of the store itself: the address may have chosen in this very pass.
    if (selected !== null || useInbox.getState().selected !== null || isPhone() || !is_complete) return
    // Not back to what this page is just deciding.
    const { deciding } = useInbox.getState()
    const first = ids.find((one) => isStanding(one) && !deciding.has(one))
    if (first !== undefined) select(first)
  }, [selected, ids, is_complete])
  // A group that was decided down to a few rows is no group any more. On a phone nothing else comes up under the thumb.
  const last_index = useRef(0)
  useEffect(() => {
    if (selected && ids.includes(selected)) last_index.current = ids.indexOf(selected)
    else if (selected?.startsWith('group ') && ids.length > 0) select(isPhone() ? null : nearest(ids, Math.min(last_index.current, ids.length - 1), isStanding))
    else if (selected?.startsWith('group ') && is_complete) select(null)
  }, [selected, ids, is_complete])

  const setFilter = useCallback((next: Filter) => navigate(location.pathname + writeFilter(next), { replace: true }), [navigate])
  const index = selected ? ids.indexOf(selected) : -1
  const move = (by: number) => {
    if (ids.length === 0) return
    const to = nearest(ids, Math.min(Math.max(index + by, 0), ids.length - 1), isStanding, by < 0)
    if (to !== null) select(to)
    setBulk(false)
  }
  const pick = useCallback(
    (row: string) => {
      select(row)
      setBulk(false)
      if (!row.startsWith('req_')) noteOpened(row)
      else if (isPhone()) navigate(`/r/${row}${location.search}`)
    },
    [navigate],
  )
  const openMarked = () => {
    setBulk(true)
    noteOpened('marked')
  }
  const closeMarked = () => (openedHere() ? history.back() : setBulk(false))
  useEffect(() => {
    const onBack = () => {
      if (!isPhone()) return
      const open = openedHere()
      setBulk(open === 'marked')
      if (open?.startsWith('group ')) select(open)
      else if (location.pathname === '/') select(null)
    }
    window.addEventListener('popstate', onBack)
    return () => window.removeEventListener('popstate', onBack)
  }, [])
  const admits = useCallback((press: Press) => guard.current.admits(press, performance.now()), [])
  const onShown = useCallback(() => guard.current.moved(performance.now()), [])
  const goOn = (from: string) => {
    const at = ids.indexOf(from)
    if (isPhone()) {
      select(null)
      navigate(`/${location.search}`)
    } else {
      // Opened out of a group: go back to it.
      const group = rows.find((one) => one.type === 'group' && one.requests.some((member) => member.id === from))
      const { deciding } = useInbox.getState()
      const isFree = (one: string) => one !== from && isStanding(one) && !deciding.has(one)
      select(at < 0 ? (group?.id ?? nearest(ids, 0, isStanding)) : nearest(ids, at, isFree))
      document.getElementById('requests')?.focus({ preventScroll: true })
    }
  }
  const onSnooze = (request: Request) => (until: Date | null) => {
    if (until) goOn(request.id)
    void snooze(request, until)
  }
  const onDecide = (request: Request) => (call: Call, askForCode: AskForCode) => {
    // Without a connection it only says so, and what was typed stays.
    if (useInbox.getState().connection === 'lost') return void decide(request, call)
    // Whoever changed it stays until the server has judged that.
    if (isChange(call)) return void decide(request, call, askForCode).then((is_done) => is_done && useInbox.getState().selected === request.id && goOn(request.id))
    // The list moves on at once; the row says what is under way until the server has answered.
    goOn(request.id)
    void decide(request, call)
  }

  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    g: () => move(-ids.length),
    G: () => move(ids.length),
    Enter: () => selected && pick(selected),
    o: () => selected && pick(selected),
    ' ': () => selected?.startsWith('req_') && toggleMark(selected),
    z: ({ repeat }) => (repeat ? undefined : undoLatest()),
    A: () => marked.size > 0 && setBulk(true),
    ...(marked.size > 0 ? { Escape: () => (is_bulk ? setBulk(false) : clearMarks()) } : {}),
  })
  const onListKey = (event: KeyboardEvent) => {
    const step: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -ids.length, End: ids.length }
    const by = step[event.key]
    if (by !== undefined) move(by)
    else if (event.key === 'Enter' && selected) pick(selected)
    else if (event.key === ' ' && selected?.startsWith('req_')) toggleMark(selected)
    else return
    event.preventDefault()
  }

  const row = rows[index]
  const known = selected ? requests.get(selected) : undefined
  const elsewhere = useElsewhere(selected, known !== undefined)
  const shown = known ?? (selected?.startsWith('req_') ? elsewhere.request : null)
  const is_changed = useChanged(shown, guard.current)
  const waiting = countWaiting(requests)
  // `rows` changes when one comes back by itself.
  const snoozed = useMemo(() => [...requests.values()].filter((request) => isSnoozed(request)).length, [requests, rows])

  // Whoever came by a link is told of that request, also where nothing waits.
  const is_empty = has_loaded && waiting - snoozed === 0 && !shown && !elsewhere.is_loading && elsewhere.error === undefined
  const leave = () => {
    if (openedHere()) return history.back()
    select(null)
    setBulk(false)
    navigate(`/${location.search}`)
  }
  const marked_requests = [...marked].flatMap((one) => requests.get(one) ?? [])
  // On a phone the address says whether the list or a request is open; groups have no address of their own.
  const is_open = id !== null || is_bulk || (selected?.startsWith('group ') ?? false)
  // Where a request was opened by its address, the list behind it is made when somebody goes back to it, and stays from then on.
  const is_phone = useIsPhone()
  const shows_list = !is_phone || !is_open
  const was_open = useRef(false)
  useEffect(() => {
    if (was_open.current && !is_open) catchFocus(document.getElementById('requests') ?? document.getElementById('main'))
    was_open.current = is_open
  }, [is_open])
  const [had_list, setHadList] = useState(shows_list)
  if (shows_list && !had_list) setHadList(true)

  // What nobody sees hears no keys, is not being looked at, and takes the focus when it comes up.
  const in_pane = !is_open && is_phone ? 'none' : is_bulk && marked_requests.length > 0 ? 'marked' : row?.type === 'group' ? 'group' : shown ? 'request' : 'none'

  if (is_empty && !isFiltering(filter)) return <main id="main" tabIndex={-1} className="flex min-h-0 flex-1 overflow-auto"><Suspense fallback={<h1 className="sr-only">Inbox</h1>}><EmptyState snoozed={snoozed} onSnoozed={() => setFilter({ ...no_filter, snoozed: true })} /></Suspense></main>
  return (
    <main id="main" tabIndex={-1} className="flex min-h-0 flex-1">
      {had_list && (
        <section aria-label="What waits" className={`${is_open ? 'hidden md:flex' : 'flex'} relative w-full min-w-0 flex-col border-r border-line bg-sheet md:w-[23rem] lg:w-[27rem] md:shrink-0`}>
          <h1 className="sr-only">Inbox</h1>
          <FilterBar filter={filter} onChange={setFilter} />
          <div className="flex min-h-9 items-center gap-1 border-b border-line pl-4 pr-2 text-[0.8125rem] text-faint">
            <span role="status" className="flex-1">
              {!has_loaded || !is_complete
                ? `Reading ${grouped(waiting)}${expected ? ` of ${grouped(expected)}` : ''}…`
                : isFiltering(filter)
                  ? `${plural(rows.reduce((sum, one) => sum + (one.type === 'group' ? one.requests.length : 1), 0), 'match', 'matches')} of ${grouped(waiting)}`
                  : `${grouped(waiting - snoozed)} waiting`}
            </span>
            {snoozed > 0 && (
              <Toggle label={`${snoozed} later`} is_on={filter.snoozed} onToggle={() => setFilter({ ...filter, snoozed: !filter.snoozed })} />
            )}
            {marked.size > 0 && (
              <button type="button" className="btn-link px-1.5 text-[0.8125rem] font-medium" onClick={openMarked}>
                Decide {marked.size} selected
              </button>
            )}
            <Toggle label="Select" is_on={is_marking} onToggle={() => (is_marking ? (setMarking(false), clearMarks()) : setMarking(true))} />
            <Toggle label="Group" is_on={grouping} onToggle={() => useSettings.getState().change({ grouping: !grouping })} />
          </div>
          {rows.length === 0 && has_loaded ? (
            <div className="m-auto px-6 text-center text-soft">
              <p className="m-0 mb-2">{isFiltering(filter) ? 'Nothing matches.' : 'Nothing waits.'}</p>
              {isFiltering(filter) && (
                <button type="button" className="btn-link" onClick={() => setFilter(no_filter)}>
                  Show everything that waits
                </button>
              )}
            </div>
          ) : (
            <RequestList rows={rows} ids={ids} selected={selected} is_marking={is_marking} onPick={pick} onKeyDown={onListKey} />
          )}
          {grants?.length ? (
            <Suspense>
              <ActiveGrants grants={grants} />
            </Suspense>
          ) : null}
        </section>
      )}
      <section aria-label="Decision" className={`${is_open ? 'flex' : 'hidden md:flex'} min-w-0 flex-1 flex-col bg-paper`}>
        {/* Another one for each: what stands is kept until what a transition puts in its place is here, and the list would wait with it. */}
        <Suspense key={in_pane} fallback={<div className="m-auto"><Spinner /></div>}>
          {in_pane === 'marked' ? (
            <BulkPane
              key="marked"
              requests={marked_requests}
              title={`${plural(marked_requests.length, 'request')} selected`}
              onOpen={pick}
              onDone={(sent) => {
                closeMarked()
                unmark(sent)
                if (useInbox.getState().marked.size === 0) setMarking(false)
              }}
              admits={admits}
              back={<BackButton onBack={closeMarked} />}
            />
          ) : in_pane === 'group' && row?.type === 'group' ? (
            <BulkPane
              key={row.id}
              requests={row.requests}
              title={`${row.requests.length} alike: ${row.requests[0]!.action?.tool ?? ''}`}
              onOpen={pick}
              onDone={() => (isPhone() ? leave() : undefined)}
              admits={admits}
              back={<BackButton onBack={leave} />}
            />
          ) : in_pane === 'request' && shown ? (
            <RequestPane key={`${shown.id} ${shown.digest}`} request={shown} is_changed={is_changed} onDecide={onDecide(shown)} onSnooze={onSnooze(shown)} onShown={onShown} admits={admits} onGoOn={known?.state === 'settled' ? () => goOn(shown.id) : undefined} back={<BackButton onBack={leave} />} />
          ) : elsewhere.error !== undefined ? (
            <div className="m-auto px-6 text-center text-soft">
              <h1 className="text-lg text-ink">{elsewhere.is_missing ? 'There is no such request' : 'This request could not be read'}</h1>
              {elsewhere.is_missing ? <p className="mt-1">The link may be cut off, or it belongs to another server.</p> : <Problem error={elsewhere.error} />}
              <button type="button" className="btn mt-4" onClick={leave}>
                To the inbox
              </button>
            </div>
          ) : (
            <div className="m-auto text-faint">{has_loaded && !elsewhere.is_loading ? 'Choose a request.' : <Spinner />}</div>
          )}
        </Suspense>
      </section>
    </main>
  )
}
