// The frame around every screen: where you are, whether the page is live, who you are.
import { Suspense, useDeferredValue, useEffect, useState, type ComponentType } from 'react'
import { Link, useLocation, useRoute } from 'wouter'
import { fetchTheRest, InboxScreen, isPage, KeyHelp, LostScreen, screens, SignInScreen } from './screens'
import { countWaiting, followInbox, useInbox } from './state/inbox'
import { useKeys } from './state/keys'
import { useLink } from './state/link'
import { setBadge } from './state/service_worker'
import { useMe, useSession } from './state/session'
import { visibleText } from './model/marked_text'
import { BookIcon, ChartIcon, ChatIcon, GearIcon, HistoryIcon, InboxIcon, KeyIcon, ListIcon, Mark, MoreIcon, PeopleIcon, PlugIcon } from './ui/icons'
import { Dialog, Spinner } from './ui/parts'
import { Notices } from './ui/notices'


type Place = { path: string; name: string; icon: ComponentType; screen: ComponentType | null; is_for_admins?: boolean }

const places: Place[] = [
  { path: '/', name: 'Inbox', icon: InboxIcon, screen: null },
  { path: '/chat', name: 'Chat', icon: ChatIcon, screen: screens.chat },
  { path: '/history', name: 'History', icon: HistoryIcon, screen: screens.history },
  { path: '/grants', name: 'Grants', icon: KeyIcon, screen: screens.grants },
  { path: '/policy', name: 'Policy', icon: BookIcon, screen: screens.policy },
  { path: '/stats', name: 'Statistics', icon: ChartIcon, screen: screens.stats },
  { path: '/audit', name: 'Audit', icon: ListIcon, screen: screens.audit },
  { path: '/people', name: 'People', icon: PeopleIcon, screen: screens.people, is_for_admins: true },
  { path: '/settings', name: 'Settings', icon: GearIcon, screen: screens.settings },
]
/** A thumb reaches so many tabs; the others stand behind the last one. */
const tabs_max = 4

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

/** How many wait, in the title of the window and on the icon of the app, wherever one is. Whoever signs out takes both along. */
function WindowTitle({ place }: { place: Place | null }) {
  // A part of the list is no number to tell.
  const waiting = useInbox((inbox) => (inbox.has_loaded ? countWaiting(inbox.requests) : null))
  const where = place ? place.name : 'No such page'
  const name = place?.path === '/' ? 'Holdpoint' : `${where} · Holdpoint`
  useEffect(() => {
    document.title = waiting ? `(${waiting}) ${name}` : name
    if (waiting !== null) setBadge(waiting)
  }, [waiting, name])
  useEffect(
    () => () => {
      document.title = 'Holdpoint'
      setBadge(0)
    },
    [],
  )
  return null
}

type LinkProps = { place: Place; is_here: boolean }

/** How many wait. It counts by itself: a request more or less is no reason to make the page around it anew. */
function Badge({ className = '' }: { className?: string }) {
  const waiting = useInbox((inbox) => countWaiting(inbox.requests))
  return waiting > 0 ? <span className={`tabular rounded-full bg-ink px-1.5 text-[0.6875rem] font-semibold leading-[1.125rem] text-sheet ${className}`}>{waiting > 999 ? '999+' : waiting}</span> : null
}

function HeadLink({ place, is_here }: LinkProps) {
  return (
    <Link
      href={place.path}
      aria-current={is_here ? 'page' : undefined}
      className={`relative flex h-full items-center gap-2 px-2.5 text-[0.9375rem] lg:px-3 ${is_here ? 'font-semibold text-ink after:absolute after:inset-x-3 after:bottom-0 after:h-[3px] after:rounded-t after:bg-accent' : 'text-soft hover:text-ink'}`}
    >
      {place.name}
      {place.path === '/' && <Badge />}
    </Link>
  )
}

const tab = (is_here: boolean) => `relative flex min-h-14 flex-1 flex-col items-center justify-center gap-0.5 text-[0.6875rem] ${is_here ? 'font-semibold text-ink' : 'text-faint'}`

function TabLink({ place, is_here }: LinkProps) {
  const Icon = place.icon
  return (
    <Link href={place.path} aria-current={is_here ? 'page' : undefined} className={tab(is_here)}>
      <Icon />
      {place.name}
      {place.path === '/' && <Badge className="absolute left-1/2 top-1 ml-2" />}
    </Link>
  )
}

/** The other screens, on a phone. */
function MoreScreens({ screens, here, onClose }: { screens: Place[]; here: Place | null; onClose: () => void }) {
  const me = useMe()
  return (
    <Dialog title="More" is_low onClose={onClose}>
      <ul className="m-0 list-none p-0">
        {screens.map((place) => {
          const Icon = place.icon
          return (
            <li key={place.path} className="border-t border-line first:border-0">
              <Link href={place.path} aria-current={place === here ? 'page' : undefined} className="flex min-h-12 items-center gap-3" onClick={onClose}>
                <Icon /> {place.name}
              </Link>
            </li>
          )
        })}
      </ul>
      <p className="foreign mb-0 mt-4 text-soft">
        You are {visibleText(me.name)} <span className="text-faint">· {me.role}</span>
      </p>
    </Dialog>
  )
}

function Shell() {
  const me = useMe()
  const [path] = useLocation()
  const [, request] = useRoute('/r/:id')
  const [shows_keys, showKeys] = useState(false)
  const [shows_more, showMore] = useState(false)
  useEffect(followInbox, [])
  useKeys({ '?': () => showKeys(true) })
  const mine = places.filter((place) => !place.is_for_admins || me.role === 'admin')
  const here = isPage(path) ? (mine.find((place) => place.path === path) ?? mine[0]!) : null
  const Screen = here ? here.screen : LostScreen
  const where = here?.path ?? ''
  useEffect(() => fetchTheRest(where), [where])
  const tabs = mine.slice(0, tabs_max)
  return (
    <div className="flex h-full flex-col">
      <WindowTitle place={here} />
      <a href="#main" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-sheet focus:p-3">
        To the content
      </a>
      <header className={`${request ? 'hidden md:flex' : 'flex'} h-13 shrink-0 items-center gap-2 border-b border-line bg-sheet px-4`}>
        <Link href="/" aria-label="Holdpoint, to the inbox" className="mr-1 flex items-center gap-2.5 text-accent lg:mr-3">
          <Mark />
          <span className="text-[1.0625rem] font-semibold tracking-tight text-ink md:hidden xl:inline">Holdpoint</span>
        </Link>
        <nav aria-label="Screens" className="hidden h-full min-w-0 overflow-x-auto md:flex">
          {mine.map((place) => (
            <HeadLink key={place.path} place={place} is_here={place === here} />
          ))}
        </nav>
        <div className="ml-auto flex shrink-0 items-center gap-4">
          <Connection />
          <span className="hidden max-w-48 truncate text-[0.875rem] text-soft lg:block">
            {visibleText(me.name)} <span className="text-faint">· {me.role}</span>
          </span>
          <button type="button" className="btn btn-quiet hidden px-2 text-faint lg:inline-flex" aria-label="Keys" onClick={() => showKeys(true)}>
            <kbd className="key">?</kbd>
          </button>
        </div>
      </header>
      {/* A boundary for each place: without it the screen one has left lives on, unseen, until the next has loaded, and still hears the keys. */}
      <Suspense key={where} fallback={<main id="main" className="m-auto"><Spinner /></main>}>
        {Screen ? <Screen /> : <InboxScreen id={request?.id ?? null} />}
      </Suspense>
      <nav aria-label="Screens" className={`${request ? 'hidden' : 'flex'} shrink-0 border-t border-line bg-sheet pb-[env(safe-area-inset-bottom)] md:hidden`}>
        {tabs.map((place) => (
          <TabLink key={place.path} place={place} is_here={place === here} />
        ))}
        <button type="button" className={tab(here !== null && !tabs.includes(here))} aria-haspopup="dialog" onClick={() => showMore(true)}>
          <MoreIcon />
          More
        </button>
      </nav>
      {shows_more && <MoreScreens screens={mine.slice(tabs_max)} here={here} onClose={() => showMore(false)} />}
      <Suspense>{shows_keys && <KeyHelp onClose={() => showKeys(false)} />}</Suspense>
      <Notices />
    </div>
  )
}

const patience_ms = 400

/** The answer is nearly always here before anything could be read; only a slow one is worth a picture. */
function Asking() {
  const [is_slow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), patience_ms)
    return () => clearTimeout(timer)
  }, [])
  return is_slow ? <main id="main" className="grid min-h-full place-items-center"><Spinner /></main> : null
}

export function App() {
  const [path] = useLocation()
  const has_link = useLink((state) => state.token !== '')
  const me = useSession((session) => session.me?.id)
  const is_in = me !== undefined && !has_link
  const status = useSession((session) => session.status)
  // Deferred, so that the browser may do other things while the page is made for the first time.
  const may_show = useDeferredValue(is_in, false)
  // What one person opened is not the next one's.
  if (is_in && may_show) return <Shell key={me} />
  if (is_in || status === 'asking') return <Asking />
  return <Suspense fallback={<Asking />}>{status !== 'signed_out' || isPage(path) ? <SignInScreen /> : <LostScreen />}</Suspense>
}
