// Being told by the browser's push service while no page is open.
import { client } from '../client'
import { fromBase64Url } from '../model/base64url'
import { forgetPush, isPushOf, keepPushHere, pushHere } from './push_here'
import { serviceWorker } from './service_worker'

export const canPush = (): boolean => 'PushManager' in window && 'Notification' in window && window.isSecureContext

/** A name for this browser that its owner recognises. */
export function browserName(agent = navigator.userAgent): string {
  const browser = /Edg\//.test(agent) ? 'Edge' : /Firefox\//.test(agent) ? 'Firefox' : /Chrome\//.test(agent) ? 'Chrome' : /Safari\//.test(agent) ? 'Safari' : 'Browser'
  const system = /iPhone|iPad/.test(agent) ? 'iOS' : /Android/.test(agent) ? 'Android' : /Mac OS/.test(agent) ? 'macOS' : /Windows/.test(agent) ? 'Windows' : /Linux/.test(agent) ? 'Linux' : ''
  return system ? `${browser} on ${system}` : browser
}

/** Asks for leave, subscribes, and tells the server. */
export async function startPush(owner: string): Promise<void> {
  const registration = await serviceWorker()
  if (!registration) throw new Error('this browser has no service worker')
  if ((await Notification.requestPermission()) !== 'granted') throw new Error('The browser does not allow notifications for this page. Allow them in its settings.')
  const key = await client.pushKey()
  if (key === null) throw new Error('Notifications are switched off on this server.')
  const { pushManager } = await navigator.serviceWorker.ready
  const subscription = (await pushManager.getSubscription()) ?? (await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: fromBase64Url(key) }))
  await tellServer(subscription, owner)
}

async function tellServer(subscription: PushSubscription, owner: string): Promise<void> {
  const { id } = await client.addPushSubscription(browserName(), subscription.toJSON())
  keepPushHere(id, owner)
}

/** After signing in: a subscription ends with its session, so who was told here before is told again. */
export async function renewPush(owner: string): Promise<void> {
  try {
    if (!canPush() || Notification.permission !== 'granted' || !isPushOf(owner)) return
    const subscription = await (await navigator.serviceWorker.getRegistration())?.pushManager.getSubscription()
    if (subscription) await tellServer(subscription, owner)
  } catch {
    // The settings show that this browser is not told, and offer it.
  }
}

/** Ends a subscription, of this browser or another. */
export async function stopPush(id: string): Promise<void> {
  await client.removePushSubscription(id)
  if (id !== pushHere()) return
  forgetPush()
  const subscription = await (await navigator.serviceWorker.ready).pushManager.getSubscription()
  await subscription?.unsubscribe()
}
