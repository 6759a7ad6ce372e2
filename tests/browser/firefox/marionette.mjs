// Drives Debian's Firefox by its own remote protocol (length, colon, JSON), so that nothing else is needed.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually, freePort } from '../harness.mjs'

const running = new Set()
process.on('exit', () => running.forEach((firefox) => firefox.kill('SIGKILL')))

export class Firefox {
  #next = 0
  #waiting = new Map()

  /** `preferences` on top of those that keep it quiet; `environment` names the bus it shows notifications on. */
  async start(preferences, environment) {
    this.profile = mkdtempSync(join(tmpdir(), 'holdpoint-firefox-'))
    const port = await freePort()
    const all = {
      'marionette.port': port, 'remote.prefs.recommended': false, 'browser.shell.checkDefaultBrowser': false, 'browser.startup.page': 0, 'browser.startup.homepage_override.mstone': 'ignore',
      'datareporting.policy.dataSubmissionEnabled': false, 'toolkit.telemetry.server': '', 'app.normandy.enabled': false, 'network.captive-portal-service.enabled': false, 'network.connectivity-service.enabled': false,
      'services.settings.server': 'http://127.0.0.1:9/', 'browser.region.network.url': '', 'browser.safebrowsing.provider.mozilla.updateURL': '', 'extensions.getAddons.cache.enabled': false, 'network.dns.disabled': false, ...preferences,
    }
    writeFileSync(join(this.profile, 'user.js'), Object.entries(all).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(''))
    this.process = spawn(process.env.FIREFOX ?? '/usr/bin/firefox-esr', ['--headless', '--no-remote', '--marionette', '--profile', this.profile, 'about:blank'], { stdio: 'ignore', env: { ...process.env, ...environment } })
    running.add(this.process)
    this.process.once('exit', () => running.delete(this.process))
    this.socket = await eventually('Firefox listens', () => new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket)).on('error', () => resolve(null))
    }), 60_000)
    let rest = Buffer.alloc(0)
    this.socket.on('data', (data) => {
      rest = Buffer.concat([rest, data])
      for (;;) {
        const colon = rest.indexOf(58)
        const size = Number(rest.subarray(0, Math.max(colon, 0)))
        if (colon < 0 || rest.length < colon + 1 + size) return
        this.#hear(JSON.parse(rest.subarray(colon + 1, colon + 1 + size)))
        rest = rest.subarray(colon + 1 + size)
      }
    })
    await this.call('WebDriver:NewSession', {})
    return this
  }

  #hear(message) {
    if (!Array.isArray(message)) return
    const [, id, error, result] = message
    const { resolve, reject } = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error) reject(new Error(`${error.error}: ${error.message}`))
    else resolve(result)
  }

  call(name, parameters) {
    const id = ++this.#next
    const text = JSON.stringify([0, id, name, parameters])
    this.socket.write(`${Buffer.byteLength(text)}:${text}`)
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
  }

  goto = (url) => this.call('WebDriver:Navigate', { url })
  run = (script, ...args) => this.call('WebDriver:ExecuteScript', { script, args }).then(({ value }) => value)

  /** Clicks a button by its words, as soon as it is there. */
  async click(words) {
    const value = `//button[contains(normalize-space(.), ${JSON.stringify(words)})]`
    const found = await eventually(`a button “${words}”`, () => this.call('WebDriver:FindElement', { using: 'xpath', value }).then((one) => one.value ?? one, () => null))
    await this.call('WebDriver:ElementClick', { id: Object.values(found)[0] })
  }

  // On the way from one page to the next there is none.
  text = () => this.run("return document.body?.innerText ?? ''")
  sees = (words) => eventually(`the page says “${words}”`, async () => (await this.text())?.includes(words))

  async stop() {
    const ended = new Promise((resolve) => this.process.once('exit', resolve))
    this.process.kill('SIGKILL')
    await ended
    this.socket.destroy()
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 })
  }
}
