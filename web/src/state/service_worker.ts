// The service worker of the page: it opens without a connection, and hears what is pushed.
import { lookAt } from './inbox'

type ScriptPolicy = { createScriptURL: (url: string) => unknown }
type TrustedTypes = { createPolicy: (name: string, rules: { createScriptURL: (url: string) => string }) => ScriptPolicy }

/** Trusted Types let no script address through but this one. */
function trusted(path: string): string {
  const policy = (window as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('holdpoint', {
    createScriptURL: (url) => {
      if (url !== '/sw.js') throw new TypeError('only the service worker is loaded by address')
      return url
    },
  })
  return (policy?.createScriptURL(path) ?? path) as string
}

let registered: Promise<ServiceWorkerRegistration> | null = null

/** Registers it once; null where the browser has none or the page is not served safely. */
export function serviceWorker(): Promise<ServiceWorkerRegistration> | null {
  if (!('serviceWorker' in navigator) || !window.isSecureContext) return null
  registered ??= navigator.serviceWorker.register(trusted('/sw.js'), { scope: '/' })
  return registered
}

/** A message was clicked: the page goes there itself, and what was begun in it stays. */
function followMessages(): void {
  navigator.serviceWorker?.addEventListener('message', ({ data, ports }) => {
    const path = (data as { open?: unknown } | null)?.open
    if (typeof path !== 'string' || !/^\/(?![/\\])/.test(path)) return
    if (location.pathname + location.search !== path) history.pushState(null, '', path)
    const id = /^\/r\/(\w+)/.exec(path)?.[1]
    if (id) lookAt(id)
    ports[0]?.postMessage(true)
  })
  navigator.serviceWorker?.startMessages()
}

/** After the page has come up: the worker must not delay it. */
export function startServiceWorker(): void {
  followMessages()
  const start = () => void serviceWorker()?.catch(() => undefined)
  if (document.readyState === 'complete') setTimeout(start, 1000)
  else window.addEventListener('load', () => setTimeout(start, 1000), { once: true })
}

/** The number on the app's icon, where there is one. */
export function setBadge(count: number): void {
  const set = count > 0 ? navigator.setAppBadge?.(count) : navigator.clearAppBadge?.()
  void set?.catch(() => undefined)
}
