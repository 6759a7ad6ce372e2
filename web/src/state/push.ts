// Being told by the browser's push service while no page is open.
import { client } from '../client'
import { fromBase64Url } from '../model/base64url'
import { is_served } from '../wire'
import { serviceWorker } from './service_worker'

export const canPush = (): boolean => is_served.getPushKey && 'PushManager' in window && 'Notification' in window && window.isSecureContext

/** A name for this browser that its owner recognises. */
export function browserName(agent = navigator.userAgent): string {
  const browser = /Edg\//.test(agent) ? 'Edge' : /Firefox\//.test(agent) ? 'Firefox' : /Chrome\//.test(agent) ? 'Chrome' : /Safari\//.test(agent) ? 'Safari' : 'Browser'
  const system = /iPhone|iPad/.test(agent) ? 'iOS' : /Android/.test(agent) ? 'Android' : /Mac OS/.test(agent) ? 'macOS' : /Windows/.test(agent) ? 'Windows' : /Linux/.test(agent) ? 'Linux' : ''
  return system ? `${browser} on ${system}` : browser
}

/** Asks for leave, subscribes, and tells the server. */
export async function startPush(): Promise<void> {
  const registration = await serviceWorker()
  if (!registration) throw new Error('this browser has no service worker')
  if ((await Notification.requestPermission()) !== 'granted') throw new Error('The browser does not allow notifications for this page. Allow them in its settings.')
  const ready = await navigator.serviceWorker.ready
  const subscription = (await ready.pushManager.getSubscription()) ?? (await ready.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: fromBase64Url(await client.pushKey()) }))
  await client.addPushSubscription(browserName(), subscription.toJSON())
}

/** Ends the subscription of this browser; the server is told by its id. */
export async function stopPush(id: string): Promise<void> {
  await client.removePushSubscription(id)
  const subscription = await (await navigator.serviceWorker.ready).pushManager.getSubscription()
  await subscription?.unsubscribe()
}
