// The service worker: keeps the page's own files for when there is no connection, and shows what is pushed. It never keeps
// an answer of the server: what could be decided by an old one is worse than nothing.
const version = '__VERSION__'
const shell = ['__SHELL__']
const cache_name = `holdpoint-${version}`

self.addEventListener('install', (event) => {
  event.waitUntil(caches.open(cache_name).then((cache) => cache.addAll(shell)).then(() => self.skipWaiting()))
})

self.addEventListener('activate', (event) => {
  const clean = async () => {
    for (const name of await caches.keys()) if (name.startsWith('holdpoint-') && name !== cache_name) await caches.delete(name)
    await self.clients.claim()
  }
  event.waitUntil(clean())
})

async function asset(request) {
  const kept = await caches.match(request)
  if (kept) return kept
  const answer = await fetch(request)
  // Names of these files change with their content, so a copy is never stale.
  if (answer.ok) (await caches.open(cache_name)).put(request, answer.clone())
  return answer
}

const page = (request) => fetch(request).catch(async () => (await caches.match('/')) ?? Response.error())

self.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== self.location.origin) return
  if (pathname.startsWith('/assets/')) event.respondWith(asset(request))
  else if (request.mode === 'navigate') event.respondWith(page(request))
})

const show = (title, options) => self.registration.showNotification(title, { icon: '/icon-192.png', badge: '/icon-192.png', lang: 'en', ...options })

/** What waits has buttons that decide where the server sent a token for them, and otherwise one that opens it; what is settled replaces it quietly. */
async function onPush(message) {
  const { notification, app_badge, holdpoint } = message
  const is_waiting = holdpoint?.state === 'pending'
  const decides = [{ action: 'approve', title: 'Approve' }, { action: 'reject', title: 'Deny' }]
  const actions = !is_waiting ? [] : holdpoint.token ? decides : [{ action: 'view', title: 'View' }]
  if (typeof app_badge === 'number') await (app_badge > 0 ? self.navigator.setAppBadge?.(app_badge) : self.navigator.clearAppBadge?.())?.catch(() => undefined)
  await show(notification.title, {
    body: notification.body, tag: notification.tag, actions, silent: notification.silent || !is_waiting, requireInteraction: is_waiting,
    data: { navigate: notification.navigate, token: holdpoint?.token ?? null },
  })
}

self.addEventListener('push', (event) => {
  let message = null
  try {
    message = event.data?.json()
  } catch {
    // Something that is not ours: a notification is owed all the same.
  }
  event.waitUntil(message?.notification ? onPush(message) : show('Something waits for you', { data: { navigate: '/' } }))
})

async function decide(notification, decision) {
  const { token, navigate } = notification.data
  // So it is where no answer comes, or one that does not know either.
  let text = 'No answer came. It may have counted: open it to see.'
  try {
    const answer = await fetch('/v1/push/decision', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ token, decision }), credentials: 'omit' })
    const body = await answer.json()
    const [done, counts] = decision === 'approve' ? ['Approved.', 'Your approval counts; others are needed too.'] : ['Denied.', 'Your no counts; it still waits.']
    if (answer.ok) text = body.state === 'settled' ? done : counts
    else if (answer.status !== 503) text = `Not decided: ${body.error?.message ?? 'refused'}.`
  } catch {
    // The text says it.
  }
  await show(notification.title, { body: text, tag: notification.tag, silent: true, data: { navigate, token: null } })
}

// A busy page takes a moment; whoever is allowed to open a window because of a press is so for five seconds.
const answer_within_ms = 4000

/** True if the page of the inbox goes there by itself, which keeps what somebody has begun in it. */
const goesBy = (client, path) =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => resolve(true)
    setTimeout(() => resolve(false), answer_within_ms)
    client.postMessage({ open: path }, [port2])
  })

async function open(navigate) {
  // Only ever a page of this server, whatever the message says.
  const { pathname, search } = new URL(navigate || '/', self.location.origin)
  const target = self.location.origin + pathname + search
  const [client] = await self.clients.matchAll({ type: 'window' })
  if (!client) return self.clients.openWindow(target)
  await client.focus().catch(() => undefined)
  if (await goesBy(client, pathname + search)) return
  return client.navigate(target).catch(() => self.clients.openWindow(target))
}

self.addEventListener('notificationclick', (event) => {
  const { notification, action } = event
  notification.close()
  const decides = (action === 'approve' || action === 'reject') && notification.data?.token
  event.waitUntil(decides ? decide(notification, action) : open(notification.data?.navigate))
})
