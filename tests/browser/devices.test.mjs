// Where a person is signed in, with what, and where they are told.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { armed, assertClean, closeBrowser, eventually, NamedServer, open, show, useWholeBrowser } from './harness.mjs'
import { check, variants } from './looks.mjs'
import { deliver, PushService, shownMessages } from './push_service.mjs'

useWholeBrowser()

const server = await new NamedServer(['--push-to-loopback']).start()

let agent, ann, page, authenticator, cdp
before(async () => {
  agent = await server.agent('deploy-bot')
  ann = await server.person('ann')
  page = await open(server, 'ann')
  cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  ;({ authenticatorId: authenticator } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  }))
})
afterEach(() => assertClean(page))
after(async () => {
  await closeBrowser()
  await server.stop()
})

test('D9 X1 a passkey is made, and signs in', async () => {
  await page.goto(`${server.page_url}/settings`)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText('The passkey is ready.').waitFor()
  await page.getByText(/^Chrome on Linux$/).first().waitFor()
  await page.getByRole('button', { name: 'Sign out', exact: true }).last().click()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByText('ann · approver').waitFor()
})

test('D9 a critical decision is confirmed with a passkey over exactly what is shown', async () => {
  const request = await agent.act('wipe', { database: 'orders' }, { risk: 'critical' })
  await page.goto(server.page_url)
  await show(page, request)
  await page.keyboard.press('a')
  await page.getByRole('button', { name: 'Confirm with a passkey' }).waitFor()
  await check(page, 'confirming with a passkey')
  await page.getByRole('button', { name: 'Confirm with a passkey' }).click()
  await eventually('it is approved', async () => (await agent.read(request)).outcome === 'approved')
})

test('D3 D9 a change that makes it critical is confirmed with a passkey, for exactly that change', async () => {
  const rule = '{id: huge, tools: [refund], when: args.amount > 1000, then: require, risk: critical}'
  await server.admin.call('PUT', '/v1/policy', { text: `holdpoint: 1\npolicy: growing\ndefaults: {decision: require}\nrules:\n  - ${rule}\n` })
  const request = await agent.act('refund', { amount: 24 })
  await page.goto(server.page_url)
  await show(page, request)
  await page.keyboard.press('m')
  await page.getByLabel('amount', { exact: true }).fill('5000')
  await page.getByRole('button', { name: 'Approve with changes', exact: true }).click()
  await page.getByRole('button', { name: 'Approve with changes now' }).click()
  await page.getByRole('button', { name: 'Confirm with a passkey' }).click()
  const now = await eventually('it is settled', async () => {
    const read = await agent.read(request)
    return read.state === 'settled' && read
  })
  assert.deepEqual([now.outcome, now.release.arguments], ['modified', { amount: 5000 }])
  await server.admin.call('PUT', '/v1/policy', { text: 'holdpoint: 1\npolicy: plain\ndefaults: {decision: require}\n' })
})

test('D9 a person the device does not recognise confirms nothing', async () => {
  const request = await agent.act('wipe', { database: 'customers' }, { risk: 'critical' })
  await page.goto(server.page_url)
  await show(page, request)
  await page.keyboard.press('a')
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId: authenticator, isUserVerified: false })
  await page.getByRole('button', { name: 'Confirm with a passkey' }).click()
  await page.getByText('The passkey was not used: it was cancelled, or took too long.').waitFor()
  await check(page, 'a passkey that was not used')
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId: authenticator, isUserVerified: true })
  assert.equal((await agent.read(request)).state, 'pending')
})

test('D9 whoever leaves has confirmed nothing, also when the challenge comes late', async () => {
  const request = await agent.act('wipe', { database: 'invoices' }, { risk: 'critical' })
  await page.goto(server.page_url)
  await show(page, request)
  await page.keyboard.press('a')
  const decisions = []
  const note = (call) => call.url().endsWith('/decision') && decisions.push(call.url())
  page.on('request', note)
  await page.evaluate(() => {
    globalThis.asked_device = 0
    const get = navigator.credentials.get.bind(navigator.credentials)
    navigator.credentials.get = (options) => (++globalThis.asked_device, get(options))
  })
  let release
  const is_released = new Promise((resolve) => (release = resolve))
  await page.route('**/challenge', async (route) => {
    await is_released
    await route.continue()
  })
  const panel = page.getByRole('group', { name: 'Critical: confirm what you release' })
  const sent = page.waitForRequest('**/challenge')
  await panel.getByRole('button', { name: 'Confirm with a passkey' }).click()
  await sent
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  const answered = page.waitForResponse('**/challenge')
  release()
  await (await answered).finished()
  // What would follow the answer has happened when the page has drawn again and asked the server something else.
  await armed(page)
  await page.evaluate(() => fetch('/v1/me'))
  assert.deepEqual([await page.evaluate(() => globalThis.asked_device), decisions], [0, []])
  assert.equal((await agent.read(request)).state, 'pending')
  // Now the device is asked, and nobody touches it.
  await page.unroute('**/challenge')
  await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: authenticator, enabled: false })
  await page.keyboard.press('a')
  await panel.getByRole('button', { name: 'Confirm with a passkey' }).click()
  await page.waitForFunction(() => globalThis.asked_device === 1)
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: authenticator, enabled: true })
  await armed(page)
  await page.evaluate(() => fetch('/v1/me'))
  assert.deepEqual(decisions, [])
  assert.equal((await agent.read(request)).state, 'pending')
  page.off('request', note)
})

test('X1 a double click ends one session, not the next one too', async () => {
  const others = [await open(server, 'ann'), await open(server, 'ann')]
  await page.goto(`${server.page_url}/settings`)
  const buttons = page.getByRole('button', { name: /^Sign out of/ })
  await eventually('both are listed', async () => (await buttons.count()) >= 2)
  const before = await buttons.count()
  const ended = []
  const note = (call) => /\/sessions\/[^/]+\/revoke$/.test(call.url()) && ended.push(call.url())
  page.on('request', note)
  // The second half finds the next row where the first one was.
  await buttons.first().evaluate(async (button) => {
    const click = (element, detail) => element.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, detail }))
    const count = () => [...document.querySelectorAll('button')].filter((one) => one.textContent.startsWith('Sign out of') && !one.disabled)
    const before = count().length
    click(button, 1)
    while (count().length !== before - 1) await new Promise((resolve) => requestAnimationFrame(resolve))
    click(count()[0], 2)
  })
  await page.evaluate(() => fetch('/v1/me'))
  assert.equal(ended.length, 1)
  assert.equal(await buttons.count(), before - 1)
  page.off('request', note)
  for (const other of others) await other.context().close()
})

test('X1 sessions are listed, and another one is ended at once', async () => {
  const other = await open(server, 'ann')
  await page.goto(`${server.page_url}/settings`)
  await page.getByText('this one', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
  await page.getByText('ann is signed in here only.').waitFor()
  await other.getByText('Your session has ended').waitFor()
  assert.equal(await page.getByText('this one', { exact: true }).count(), 1)
  await other.context().close()
})

test('X1 an admin sees and ends the sessions of others', async () => {
  const admin = await open(server, 'admin')
  await admin.goto(`${server.page_url}/people`)
  const row = admin.getByRole('row', { name: /^ann/ })
  assert.match(await row.first().innerText(), /link, passkey/)
  await row.getByRole('button', { name: 'Sessions' }).click()
  await admin.getByRole('dialog').getByRole('button', { name: 'Sign out' }).first().waitFor()
  await admin.context().close()
})

test('D9 a passkey gets another name, and is removed', async () => {
  await page.goto(`${server.page_url}/settings`)
  await page.getByRole('button', { name: /^Rename Chrome on Linux/ }).click()
  await page.getByLabel('New name of Chrome on Linux').fill('The key at my desk')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('button', { name: /^Remove The key at my desk/ }).click()
  await page.getByText('The passkey is removed.').waitFor()
  await eventually('it is gone', async () => (await page.getByRole('button', { name: /^Remove The key/ }).count()) === 0)
})

/** As a push service does that got no receipt: a worker that is just being replaced may lose a message. */
const deliverUntil = (what, message, look) =>
  eventually(what, async () => {
    await deliver(page, server.page_url, message)
    return eventually(what, look, 4000).catch(() => null)
  })

/**
 * Presses a button of a shown message; gives what is shown in its place, where something is. Asked of the worker: whoever asks the
 * browser for what it shows, in the moment between keeping a message and showing it, makes it forget that message.
 */
const press = (tag, action, is_answered = true) =>
  page.context().serviceWorkers()[0].evaluate(async ([tag, action, is_answered]) => {
    const [notification] = await self.registration.getNotifications({ tag })
    const told = new Promise((resolve) => {
      if (!is_answered) return resolve(null)
      self.registration.showNotification = (title, options) => {
        delete self.registration.showNotification
        resolve({ title, body: options.body, tag: options.tag, actions: options.actions ?? [] })
        return self.registration.showNotification(title, options)
      }
    })
    self.dispatchEvent(new NotificationEvent('notificationclick', { notification, action }))
    return told
  }, [tag, action, is_answered])

test('H8 a message of the server has buttons; Approve decides with its token alone, and only once', async () => {
  await page.context().grantPermissions(['notifications'], { origin: server.page_url })
  const service = await new PushService().start()
  await (await server.signedIn('ann')).post('/v1/push/subscriptions', { name: 'phone', subscription: service.subscription() })
  const told = (request, about) => eventually(`${about} is told`, () => service.messages.find(({ holdpoint }) => holdpoint.id === request.id && holdpoint.about === about))
  await page.goto(`${server.page_url}/settings`)
  await page.getByText('through 127.0.0.1').waitFor()
  await eventually('the worker runs', () => page.evaluate(() => navigator.serviceWorker.controller !== null))

  const request = await agent.act('refund', { amount: 24 }, { risk: 'low' })
  const asked = await told(request, 'approval-required')
  const shown = await deliverUntil('it is shown', asked, async () => (await shownMessages(page)).find((one) => one.tag === request.id))
  assert.deepEqual([shown.title, shown.actions], [request.headline, ['Approve', 'Deny']])
  await page.context().clearCookies()
  await press(request.id, 'approve')
  await eventually('it is approved', async () => (await agent.read(request)).outcome === 'approved')
  const { decision } = await agent.read(request)
  assert.deepEqual([decision.by, decision.via], ['ann', 'push'])
  await deliverUntil('it ends quietly', await told(request, 'request-settled'), async () => (await shownMessages(page)).some((one) => one.tag === request.id && one.silent && one.actions.length === 0))

  await deliverUntil('the old message is shown again', asked, async () => (await shownMessages(page)).some((one) => one.tag === request.id && one.actions.length === 2))
  assert.match((await press(request.id, 'reject')).body, /^Not decided:/)
  const refused = await agent.act('refund', { amount: 25 }, { risk: 'low' })
  await deliverUntil('it is shown', await told(refused, 'approval-required'), async () => (await shownMessages(page)).some((one) => one.tag === refused.id))
  const denied = await press(refused.id, 'reject')
  assert.deepEqual([denied.body, denied.tag, denied.actions], ['Denied.', refused.id, []])
  const { outcome, decision: no } = await agent.read(refused)
  assert.deepEqual([outcome, no.by, no.via], ['rejected', 'ann', 'push'])
  service.stop()
  await page.context().close()
  page = await open(server, 'ann')
})

test('H8 D10 a no that is not the last says so, and where no answer comes the message says that it may have counted', async () => {
  await page.context().grantPermissions(['notifications'], { origin: server.page_url })
  const service = await new PushService().start()
  await (await server.signedIn('ann')).post('/v1/push/subscriptions', { name: 'phone', subscription: service.subscription() })
  await page.goto(server.page_url)
  await eventually('the worker runs', () => page.evaluate(() => navigator.serviceWorker.controller !== null))
  const rejectByMessage = async (request) => {
    const asked = await eventually('it is told', () => service.messages.find(({ holdpoint }) => holdpoint.id === request.id))
    await deliverUntil('it is shown', asked, async () => (await shownMessages(page)).some((one) => one.tag === request.id))
    return press(request.id, 'reject')
  }
  const gate = '{type: specific_tools, tools: [share], reject_threshold: 2}'
  await server.admin.call('PUT', '/v1/policy', { text: `holdpoint: 1\npolicy: patient\ndefaults: {decision: require}\ngates:\n  two: ${gate}\n` })
  const shared = await agent.act('share', { amount: 26 }, { risk: 'low' })
  assert.equal(shared.requirement.reject_threshold, 2)
  assert.equal((await rejectByMessage(shared)).body, 'Your no counts; it still waits.')
  assert.equal((await agent.read(shared)).state, 'pending')

  const lost = await agent.act('refund', { amount: 27 }, { risk: 'low' })
  // The call arrives, and its answer does not.
  await page.context().serviceWorkers()[0].evaluate(() => {
    const send = self.fetch
    self.fetch = async (...call) => {
      self.fetch = send
      await send(...call)
      throw new TypeError('Failed to fetch')
    }
  })
  assert.equal((await rejectByMessage(lost)).body, 'No answer came. It may have counted: open it to see.')
  assert.equal((await agent.read(lost)).outcome, 'rejected')
  service.stop()
})

test('H8 a message about something risky only opens it, by its button or by a click beside; the badge counts what waits', async () => {
  await page.context().grantPermissions(['notifications'], { origin: server.page_url })
  const service = await new PushService().start()
  await (await server.signedIn('ann')).post('/v1/push/subscriptions', { name: 'phone', subscription: service.subscription() })
  await page.goto(server.page_url)
  await eventually('the worker runs', () => page.evaluate(() => navigator.serviceWorker.controller !== null))
  // Where the badge is shown is the platform's; what it is told is ours.
  await page.context().serviceWorkers()[0].evaluate(() => {
    self.badges = []
    self.navigator.setAppBadge = async (count) => void self.badges.push(count)
  })
  for (const action of ['view', '']) {
    const risky = await agent.act('refund', { amount: 2400, by: action }, { risk: 'high' })
    const asked = await eventually('it is told', () => service.messages.find(({ holdpoint }) => holdpoint.id === risky.id))
    assert.equal(asked.holdpoint.token, null)
    const shown = await deliverUntil('it is shown', asked, async () => (await shownMessages(page)).find((one) => one.tag === risky.id))
    assert.deepEqual(shown.actions, ['View'])
    assert.equal(await page.context().serviceWorkers()[0].evaluate(() => self.badges.at(-1)), asked.app_badge)
    assert.ok(asked.app_badge > 0)
    await page.evaluate(() => (globalThis.is_the_same_page = true))
    await press(risky.id, action, false)
    await page.waitForURL(`${server.page_url}/r/${risky.id}`)
    assert.equal(await page.evaluate(() => globalThis.is_the_same_page), true, 'what somebody has begun on the page stays')
    await page.locator(`[data-request="${risky.id}"]`).waitFor()
    assert.equal((await agent.read(risky)).state, 'pending')
    assert.equal((await shownMessages(page)).filter((one) => one.tag === risky.id).length, 0)
  }
  service.stop()
})

test('H6 the page can be installed: its manifest is read without complaint', async () => {
  const session = await page.context().newCDPSession(page)
  const { url, errors, data } = await session.send('Page.getAppManifest')
  assert.deepEqual([url, errors], [`${server.page_url}/manifest.webmanifest`, []])
  const { name, start_url, display, icons } = JSON.parse(data)
  assert.deepEqual([name, start_url, display], ['Holdpoint', '/', 'standalone'])
  for (const { src, type } of icons) {
    const answer = await fetch(server.page_url + src)
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, type], src)
  }
  const { installabilityErrors } = await session.send('Page.getInstallabilityErrors')
  assert.deepEqual(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito'), [])
  await session.detach()
})

test('H8 where the server sends no messages the settings say so, and offer none', async () => {
  const quiet = await new NamedServer(['--notify', 'log']).start()
  const window = await open(quiet, 'admin')
  await window.goto(`${quiet.page_url}/settings`)
  await window.getByText('Notifications are switched off on this server.').waitFor()
  assert.equal(await window.getByRole('button', { name: 'Tell me in this browser' }).count(), 0)
  await check(window, 'no messages')
  await assertClean(window)
  await window.context().close()
  await quiet.stop()
})

for (const [name, options] of variants) {
  test(`H6 axe finds nothing in the settings, ${name}`, async () => {
    const window = await open(server, 'ann', options)
    await window.goto(`${server.page_url}/settings`)
    await window.getByText('this one', { exact: true }).waitFor()
    await check(window, 'settings')
    await window.context().close()
  })
}
