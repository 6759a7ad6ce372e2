// The frame around every screen: where you are, whether the page is live, who you are.
import { lazy, Suspense, useEffect, useState, type ComponentType } from 'react'
import { Link, useLocation, useRoute } from 'wouter'
import { InboxScreen } from './inbox/inbox_screen'
import { SignInScreen } from './sign_in/sign_in_screen'
import { startInbox, useInbox } from './state/inbox'
import { useKeys } from './state/keys'
import { useMe, useSession } from './state/session'
import { visibleText } from './model/marked_text'
import { ChartIcon, GearIcon, HistoryIcon, InboxIcon, Mark, PeopleIcon, PlugIcon } from './ui/icons'
import { Dialog, Spinner } from './ui/parts'
import { Notices } from './ui/notices'

const HistoryScreen = lazy(() => import('./history/history_screen'))
const StatsScreen = lazy(() => import('./stats/stats_screen'))
const PeopleScreen = lazy(() => import('./people/people_screen'))
const SettingsScreen = lazy(() => import('./settings/settings_screen'))

const keys: [string, string][] = [
  ['j k', 'next, previous'], ['g G', 'first, last'], ['o', 'open'], ['/', 'search'], ['space', 'select'], ['⇧A', 'decide the selected or the group'],
  ['a', 'approve'], ['r', 'reject'], ['m', 'modify'], ['v', 'answer'], ['d', 'defer'], ['e', 'escalate'], ['x', 'abort the run'], ['+', 'five more minutes'],
  ['1 – 4', 'a prepared reason'], ['Esc', 'back'], ['?', 'these keys'],
]

function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="m-0 grid grid-cols-[6rem_1fr] gap-y-2">
        {keys.map(([name, what]) => (
          <div key={name} className="contents">
            <dt>
              <kbd className="key">{name}</kbd>
            </dt>
            <dd className="m-0 text-soft">{what}</dd>
          </div>
        ))}
      </dl>
      <p className="mb-0 mt-5 text-[0.875rem] text-faint">A held key decides once. For 0.4 seconds after another request came up, deciding keys do nothing. Settings switches all single keys off.</p>
    </Dialog>
  )
}

type Place = { path: string; name: string; icon: ComponentType; is_for_admins?: boolean }

const places: Place[] = [
  { path: '/', name: 'Inbox', icon: InboxIcon },
  { path: '/history', name: 'History', icon: HistoryIcon },
  { path: '/stats', name: 'Statistics', icon: ChartIcon },
  { path: '/people', name: 'People', icon: PeopleIcon, is_for_admins: true },
  { path: '/settings', name: 'Settings', icon: GearIcon },
]

function Connection() {
  const connection = useInbox((inbox) => inbox.connection)
  const word = { live: 'Live', connecting: 'Connecting…', lost: 'No connection' }[connection]
  return (
    <span role="status" className={`flex items-center gap-1.5 text-[0.8125rem] ${connection === 'lost' ? 'font-medium text-high' : 'text-faint'}`}>
      {connection === 'lost' ? <PlugIcon /> : <span aria-hidden="true" className={`size-2 rounded-full ${connection === 'live' ? 'bg-yes' : 'bg-medium'}`} />}
      {word}
    </span>
  )
}

function Shell() {
  const me = useMe()
  const [path] = useLocation()
  const [, request] = useRoute('/r/:id')
  const [shows_keys, showKeys] = useState(false)
  const waiting = useInbox((inbox) => {
    let count = 0
    for (const one of inbox.requests.values()) if (one.state === 'pending') ++count
    return count
  })
  useEffect(startInbox, [me.id])
  useKeys({ '?': () => showKeys(true) })
  const is_inbox = path === '/' || path.startsWith('/r/') || path === '/sign-in'
  const mine = places.filter((place) => !place.is_for_admins || me.role === 'admin')
  const link = (place: Place, is_tab: boolean) => {
    const is_here = place.path === '/' ? is_inbox : path.startsWith(place.path)
    const Icon = place.icon
    return (
      <Link
        key={place.path}
        href={place.path}
        aria-current={is_here ? 'page' : undefined}
        className={
          is_tab
            ? `relative flex min-h-14 flex-1 flex-col items-center justify-center gap-0.5 text-[0.6875rem] ${is_here ? 'font-semibold text-ink' : 'text-faint'}`
            : `relative flex h-full items-center gap-2 px-3 text-[0.9375rem] ${is_here ? 'font-semibold text-ink after:absolute after:inset-x-3 after:bottom-0 after:h-[3px] after:rounded-t after:bg-accent' : 'text-soft hover:text-ink'}`
        }
      >
        {is_tab && <Icon />}
        {place.name}
        {place.path === '/' && waiting > 0 && (
          <span className={`tabular rounded-full bg-ink px-1.5 text-[0.6875rem] font-semibold leading-[1.125rem] text-sheet ${is_tab ? 'absolute left-1/2 top-1 ml-2' : ''}`}>{waiting > 999 ? '999+' : waiting}</span>
        )}
      </Link>
    )
  }
  return (
    <div className="flex h-full flex-col">
      <a href="#main" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-sheet focus:p-3">
        To the content
      </a>
      <header className={`${request ? 'hidden md:flex' : 'flex'} h-13 shrink-0 items-center gap-2 border-b border-line bg-sheet px-4`}>
        <Link href="/" aria-label="Holdpoint, to the inbox" className="mr-3 flex items-center gap-2.5 text-accent">
          <Mark />
          <span className="text-[1.0625rem] font-semibold tracking-tight text-ink">Holdpoint</span>
        </Link>
        <nav aria-label="Screens" className="hidden h-full md:flex">
          {mine.map((place) => link(place, false))}
        </nav>
        <div className="ml-auto flex items-center gap-4">
          <Connection />
          <span className="hidden text-[0.875rem] text-soft md:block">
            {visibleText(me.name)} <span className="text-faint">· {me.role}</span>
          </span>
          <button type="button" className="btn btn-quiet hidden px-2 text-faint lg:inline-flex" aria-label="Keys" onClick={() => showKeys(true)}>
            <kbd className="key">?</kbd>
          </button>
        </div>
      </header>
      <Suspense fallback={<main id="main" className="m-auto"><Spinner /></main>}>
        {path.startsWith('/history') ? <HistoryScreen /> : path.startsWith('/stats') ? <StatsScreen /> : path.startsWith('/people') ? <PeopleScreen /> : path.startsWith('/settings') ? <SettingsScreen /> : <InboxScreen id={request?.id ?? null} />}
      </Suspense>
      <nav aria-label="Screens" className={`${request ? 'hidden' : 'flex'} shrink-0 border-t border-line bg-sheet pb-[env(safe-area-inset-bottom)] md:hidden`}>
        {mine.map((place) => link(place, true))}
      </nav>
      {shows_keys && <KeyHelp onClose={() => showKeys(false)} />}
      <Notices />
    </div>
  )
}

export function App() {
  const is_in = useSession((session) => session.status === 'signed_in')
  return is_in ? <Shell /> : <SignInScreen />
}
