// A push service for the tests, and the key of one browser behind it: what the server sends is taken, opened (RFC 8291) and
// can be handed to a service worker as the browser would.
import { createDecipheriv, createECDH, createHmac, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'

const mac = (key, ...parts) => parts.reduce((hmac, part) => hmac.update(part), createHmac('sha256', key)).digest()
const expand = (salt, secret, info, size) => mac(mac(salt, secret), info, Buffer.from([1])).subarray(0, size)

/** The keys of one browser. */
export class Browser {
  key = createECDH('prime256v1')
  secret = randomBytes(16)

  constructor() {
    this.key.generateKeys()
  }

  /** As `pushManager.subscribe()` gives it. */
  subscription = (endpoint) => ({ endpoint, keys: { p256dh: this.key.getPublicKey().toString('base64url'), auth: this.secret.toString('base64url') } })

  open(body) {
    const salt = body.subarray(0, 16)
    const sender = body.subarray(21, 21 + body[20])
    const sealed = body.subarray(21 + body[20])
    const secret = expand(this.secret, this.key.computeSecret(sender), Buffer.concat([Buffer.from('WebPush: info\0'), this.key.getPublicKey(), sender]), 32)
    const cipher = createDecipheriv('aes-128-gcm', expand(salt, secret, 'Content-Encoding: aes128gcm\0', 16), expand(salt, secret, 'Content-Encoding: nonce\0', 12))
    cipher.setAuthTag(sealed.subarray(-16))
    const plain = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()])
    // Behind the text stand a 2 and the zeros that hide its length.
    return JSON.parse(plain.subarray(0, plain.lastIndexOf(2)))
  }
}

export class PushService {
  messages = []
  browser = new Browser()

  async start() {
    this.server = createServer(async (request, answer) => {
      const parts = []
      for await (const part of request) parts.push(part)
      this.messages.push(this.browser.open(Buffer.concat(parts)))
      answer.writeHead(201).end()
    })
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    return this
  }

  stop() {
    this.server.closeAllConnections()
    this.server.close()
  }

  subscription = () => this.browser.subscription(`http://127.0.0.1:${this.server.address().port}/p/${randomBytes(6).toString('hex')}`)
}

/** Hands a message to the page's service worker, as the browser does with what its push service sent. */
export async function deliver(page, origin, message) {
  const cdp = await page.context().newCDPSession(page)
  const registered = new Promise((resolve) =>
    cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      // One of a window that was just closed may still be among them.
      const mine = registrations.findLast((one) => !one.isDeleted && one.scopeURL.startsWith(origin))
      if (mine) resolve(mine)
    }))
  await cdp.send('ServiceWorker.enable')
  const { registrationId } = await registered
  await cdp.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data: typeof message === 'string' ? message : JSON.stringify(message) })
  await cdp.detach()
}

/** What the browser shows of this page's messages. */
export const shownMessages = (page) =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready
    return (await registration.getNotifications()).map((one) => ({ title: one.title, body: one.body, tag: one.tag, silent: one.silent, actions: one.actions.map((action) => action.title) }))
  })
