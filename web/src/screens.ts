// Every screen is a file of its own. The one in the address is fetched while the server is still asked who this is; what deciding
// needs comes when nothing else is going on, so that it is there at once.
import { isPhone } from './state/phone'
import { RequestPane, BulkPane, ChangeEditor, CodePanel, EmptyState, GrantPanel, RarePanel } from './ui/deciding'
import { later } from './ui/later'

export const InboxScreen = later(() => import('./inbox/inbox_screen'))

export const KeyHelp = later(() => import('./ui/key_help'))

export const screens = {
  chat: later(() => import('./chat/chat_screen')),
  history: later(() => import('./history/history_screen')),
  grants: later(() => import('./grants/grants_screen')),
  policy: later(() => import('./policy/policy_screen')),
  stats: later(() => import('./stats/stats_screen')),
  audit: later(() => import('./audit/audit_screen')),
  people: later(() => import('./people/people_screen')),
  settings: later(() => import('./settings/settings_screen')),
}

export const SignInScreen = later(() => import('./sign_in/sign_in_screen'))
export const LostScreen = later(() => import('./lost/lost_screen'))

const others = ['/', '/index.html', '/sign-in']
/** Whether there is a page at an address: the same ones for which the server says so. */
export const isPage = (path: string): boolean => others.includes(path) || /^\/r\/[^/]+$/.test(path) || Object.hasOwn(screens, path.slice(1))

/** Fetches the screen of an address. */
export function fetchScreen(path: string): void {
  if (!isPage(path)) return void LostScreen.fetch()
  const name = path.split('/')[1] ?? ''
  if (Object.hasOwn(screens, name)) return void screens[name as keyof typeof screens].fetch()
  void InboxScreen.fetch()
  if (name === 'r' || !isPhone()) void RequestPane.fetch()
}

const whenIdle = (then: () => void): void => {
  // Safari has no idle callbacks.
  if ('requestIdleCallback' in window) requestIdleCallback(then)
  else setTimeout(then, 200)
}

const rest_after_ms = 1500

type Part = { fetch: () => Promise<void> }

/** By the place where a person is: with what one decides there, or what shows the next request. */
const restOf = (path: string): Part[] =>
  path === '/' ? [RequestPane, CodePanel, EmptyState, ChangeEditor, RarePanel, BulkPane, GrantPanel] : path === '/chat' ? [RequestPane, CodePanel, ChangeEditor, RarePanel, GrantPanel, InboxScreen] : [InboxScreen, RequestPane]

/** Fetches what deciding needs next, one file after the other. The service worker keeps the other screens. */
export function fetchTheRest(path: string): () => void {
  const parts = [...restOf(path), KeyHelp]
  let is_over = false
  const next = () => {
    const part = parts.shift()
    if (part && !is_over) void part.fetch().then(() => whenIdle(next))
  }
  const timer = setTimeout(() => whenIdle(next), rest_after_ms)
  return () => {
    is_over = true
    clearTimeout(timer)
  }
}
