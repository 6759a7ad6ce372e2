// What the browser tests share: a real server with a store of its own, people and agents on it, and Chromium.
//
// HOLDPOINT_BIN      the server to start (default: build/holdpoint)
// HOLDPOINT_WEB_URL  where the page is: unset, a proxy serves web/dist in front of the server; `server`, the binary serves
//                    the page itself
// CHROMIUM           the browser (default: /usr/bin/chromium)
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProxy } from '../../web/dev/proxy.mjs'

const require = createRequire(new URL('../../web/package.json', import.meta.url))
export const { chromium, devices } = require('playwright-core')
export const axe_source = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

export const root = fileURLToPath(new URL('../..', import.meta.url))
export const binary = process.env.HOLDPOINT_BIN ?? join(root, 'build/holdpoint')
const where = process.env.HOLDPOINT_WEB_URL ?? ''

/** One below those from which the system takes the ports of outgoing connections: none of them takes it meanwhile, or while a server restarts. */
export const freePort = () =>
  new Promise((resolve) => {
    const port = 20_000 + randomInt(12_000)
    const probe = createServer().listen(port, '127.0.0.1', () => probe.close(() => resolve(port)))
    probe.once('error', () => resolve(freePort()))
  })

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits until `look` gives something true; fails with what it was waiting for. */
export async function eventually(what, look, limit_ms = 30_000) {
  const end = Date.now() + limit_ms
  for (;;) {
    const found = await look()
    if (found) return found
    if (Date.now() > end) throw new Error(`did not happen: ${what}`)
    await pause(40)
  }
}

// A test that fails midway leaves no server behind.
const running = new Set()
process.on('exit', () => running.forEach((server) => server.kill('SIGKILL')))

/** A server on a port of its own. */
export class Server {
  constructor(flags = []) {
    if (!existsSync(binary)) throw new Error(`${binary} is missing; build it, or name it in HOLDPOINT_BIN`)
    this.flags = flags
    this.data = mkdtempSync(join(tmpdir(), 'holdpoint-browser-'))
  }

  async start() {
    this.port ??= await freePort()
    this.url = `http://127.0.0.1:${this.port}`
    this.page_port ??= where === 'server' ? this.port : await freePort()
    this.page_url = `http://127.0.0.1:${this.page_port}`
    await this.run()
    if (where !== 'server') this.proxy ??= await startProxy({ port: this.page_port, server: this.url })
    this.admin = new Client(this.url, readFileSync(join(this.data, 'admin.key'), 'utf8').trim())
    return this
  }

  async run() {
    const args = ['serve', '--data', this.data, '--listen', `127.0.0.1:${this.port}`, '--base-url', this.page_url, ...this.flags]
    const started = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.process = started
    running.add(started)
    started.once('exit', () => running.delete(started))
    let log = ''
    this.process.stderr.on('data', (text) => (log += text))
    this.process.stdout.on('data', () => {})
    await eventually(`the server is ready\n${log}`, () => fetch(`${this.url}/readyz`).then((answer) => answer.ok, () => false))
  }

  async halt(signal = 'SIGTERM') {
    const ended = new Promise((resolve) => this.process.once('exit', resolve))
    this.process.kill(signal)
    await ended
  }

  async stop() {
    this.proxy?.closeAllConnections()
    this.proxy?.close()
    await this.halt('SIGKILL')
    rmSync(this.data, { recursive: true, force: true })
  }

  async person(name, { role = 'approver', groups = [] } = {}) {
    await this.admin.post('/v1/users', { name, role, groups })
    const { key } = await this.admin.post('/v1/keys', { name, role })
    return new Client(this.url, key, name)
  }

  async agent(name) {
    const { key } = await this.admin.post('/v1/keys', { name, role: 'agent' })
    return new Client(this.url, key, name)
  }

  link(name) {
    return this.admin.post('/v1/links', { name }).then((answer) => answer.url)
  }

  async startSession(name) {
    const link = new URL(await this.link(name)).hash.slice(1)
    const answer = await fetch(`${this.url}/v1/session`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ link }) })
    const { csrf } = await answer.json()
    return { cookie: answer.headers.get('set-cookie').split(';')[0], csrf }
  }

  /** Somebody who is signed in, without a page: what a browser may do and a key may not. */
  async signedIn(name) {
    const { cookie, csrf } = await this.startSession(name)
    return new Client(this.url, null, name, { Cookie: cookie, 'X-Holdpoint-CSRF': csrf })
  }

  /** What a browser remembers in which somebody signed in before: most tests begin there. */
  async rememberedBy(person) {
    const { hostname, origin } = new URL(this.page_url)
    const [name, value] = (await this.startSession(person)).cookie.split('=')
    return {
      cookies: [{ name, value, domain: hostname, path: '/', expires: -1, httpOnly: true, secure: false, sameSite: 'Strict' }],
      origins: [{ origin, localStorage: [{ name: 'holdpoint.signed_in', value: '1' }] }],
    }
  }
}

/** Its page stands under a name: passkeys belong to one, and numbers are none. */
export class NamedServer extends Server {
  run() {
    this.page_url = `http://localhost:${this.page_port}`
    return super.run()
  }
}

/** Speaks to the server with a key, or with what else proves who it is. */
export class Client {
  constructor(url, key, name = 'admin', proof = { Authorization: `Bearer ${key}` }) {
    Object.assign(this, { url, key, name, proof })
  }

  async call(method, path, body) {
    const headers = { ...this.proof, ...(body ? { 'Content-Type': 'application/json' } : {}) }
    const answer = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) })
    const data = await answer.json()
    if (!answer.ok) throw Object.assign(new Error(`${method} ${path}: ${answer.status} ${data.error.message}`), { status: answer.status, data })
    return data
  }

  get = (path) => this.call('GET', path)
  post = (path, body) => this.call('POST', path, body)
  propose = (body) => this.post('/v1/requests', { timeout_s: 900, ...body })
  act = (tool, args = {}, more = {}) => this.propose({ action: { tool, arguments: args }, ...more })
  read = (request) => this.get(`/v1/requests/${request.id}`)
  decide = (request, decision, more = {}) => this.post(`/v1/requests/${request.id}/decision`, { decision, ...more })
}

let browser = null
// Debian's Chromium without windows draws the same pages in half the time; what only the whole one has are messages from
// a service worker.
let is_whole = !existsSync('/usr/bin/chromium-headless-shell')
export const useWholeBrowser = () => (is_whole = true)
/** Everything that any page of this run did wrong, since the browser was launched. */
const all_wrongs = []
export async function launch() {
  browser ??= await chromium.launch({
    executablePath: process.env.CHROMIUM ?? (is_whole ? '/usr/bin/chromium' : '/usr/bin/chromium-headless-shell'),
    // Chromium refuses its sandbox to root.
    args: [...(process.getuid() === 0 ? ['--no-sandbox'] : []), '--disable-dev-shm-usage', '--force-color-profile=srgb'],
  })
  return browser
}
/** Fails if any page broke its policy or threw, whichever test it belonged to. */
export const closeBrowser = async () => {
  await browser?.close()
  browser = null
  if (all_wrongs.length) throw new Error(`pages misbehaved:\n${all_wrongs.join('\n')}`)
}

/** A browser window of one person. What it did wrong (policy violations, script errors) is in `wrongs`. */
export async function open(server, name, options = {}) {
  const context = await (await launch()).newContext({ viewport: { width: 1360, height: 860 }, reducedMotion: 'reduce', storageState: name ? await server.rememberedBy(name) : undefined, ...options })
  // Far above what anything should need: the machine may be busy.
  context.setDefaultTimeout(Number(process.env.HOLDPOINT_PATIENCE_MS ?? 30_000))
  const page = await context.newPage()
  page.wrongs = []
  const blame = (text) => {
    page.wrongs.push(text)
    all_wrongs.push(`${name ?? 'nobody'} at ${page.url()}: ${text}`)
  }
  page.on('pageerror', (error) => blame(`error: ${error.message}`))
  page.on('dialog', (dialog) => {
    blame(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted ?Types|requires '?Trusted/i.test(message.text())) blame(`policy: ${message.text()}`)
  })
  await page.exposeFunction('tellViolation', (text) => blame(`violation: ${text}`))
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => globalThis.tellViolation(`${event.violatedDirective} ${event.blockedURI}`))
  })
  if (name) {
    await page.goto(server.page_url)
    await page.getByText('Live', { exact: true }).waitFor()
  }
  return page
}

/** Signs in by a one-time link, as a person does. */
export async function signIn(page, link) {
  await page.goto(link)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Live', { exact: true }).waitFor()
}

/** What most suites need: a server, an agent, two people who decide, and the window of the first. */
export async function setStage(bot, flags = []) {
  const server = await new Server(flags).start()
  const agent = await server.agent(bot)
  const ann = await server.person('ann')
  const bob = await server.person('bob')
  return { server, agent, ann, bob, page: await open(server, 'ann') }
}

/** Sets preferences as the settings page would. */
export async function prefer(page, settings) {
  await page.evaluate((wanted) => localStorage.setItem('holdpoint.settings', JSON.stringify(wanted)), settings)
  await page.reload()
  await page.getByText('Live', { exact: true }).waitFor()
}

/** Ends whatever waits; the page, opened anew, is empty. */
export async function startEmpty(server, page, person) {
  for (const request of (await person.get('/v1/requests?state=pending&limit=100')).requests) await person.decide(request, 'reject')
  await page.goto(server.page_url)
  await page.getByText('Nothing needs you').waitFor()
}

/** Fails if the page broke its policy or threw so far. */
export async function assertClean(page) {
  // What happened before this answer has been told by then.
  await page.evaluate(() => 0)
  if (page.wrongs.length) throw new Error(`the page misbehaved:\n${page.wrongs.join('\n')}`)
}

/** The row of a request in the list. */
export const rowOf = (page, request) => page.locator(`[id="row-${request.id}"]`)

/** Waits until a press counts: the page is drawn, what stands there is armed, and so is the button that has the focus. */
export async function armed(page) {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))))
  await page.waitForFunction(() => {
    const mark = performance.getEntriesByName('armed').at(-1)
    return performance.now() >= (mark?.startTime ?? 0) && document.activeElement?.ariaDisabled !== 'true'
  })
}

/** Opens a request and waits until deciding is armed. */
export async function show(page, request) {
  await rowOf(page, request).click()
  await page.locator(`[data-request="${request.id}"]`).waitFor()
  await armed(page)
}

/** Presses the button that decides several, as often as there is more to read, until it asks once more. */
export async function pressToTheEnd(page, name) {
  const asked = page.getByText('will run as shown. Press again.')
  for (let i = 0; i < 20 && !(await asked.count()); ++i) {
    await page.getByRole('button', { name }).click()
    await page.waitForTimeout(60)
  }
  await asked.waitFor()
}
