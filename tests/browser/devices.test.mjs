// Where a person is signed in, with what, and where they are told.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { assertClean, axe_source, closeBrowser, eventually, open, Server, show } from './harness.mjs'

/** Passkeys belong to a name; numbers are none. */
class NamedServer extends Server {
  run() {
    this.page_url = `http://localhost:${this.page_port}`
    return super.run()
  }
}

const server = await new NamedServer().start()
const { paths } = await (await fetch(`${server.url}/openapi.json`)).json()
const skip = '/v1/passkeys' in paths ? false : 'this server has no passkeys'

let agent, page, authenticator, cdp
before(async () => {
  agent = await server.agent('deploy-bot')
  await server.person('ann')
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

test('D9 X1 a passkey is made, and signs in', { skip }, async () => {
  await page.goto(`${server.page_url}/settings`)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText('The passkey is ready.').waitFor()
  await page.getByText(/^Chrome on Linux$/).first().waitFor()
  await page.getByRole('button', { name: 'Sign out', exact: true }).last().click()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByText('ann · approver').waitFor()
})

test('D9 a critical decision is confirmed with a passkey over exactly what is shown', { skip }, async () => {
  const request = await agent.act('wipe', { database: 'orders' }, { risk: 'critical' })
  await page.goto(server.page_url)
  await show(page, request)
  await page.keyboard.press('a')
  await page.getByText('Critical: confirm what you release').waitFor()
  await page.getByRole('button', { name: 'Confirm with a passkey' }).click()
  await eventually('it is approved', async () => (await agent.read(request)).outcome === 'approved')
})

test('D9 a person the device does not recognise confirms nothing', { skip }, async () => {
  const request = await agent.act('wipe', { database: 'customers' }, { risk: 'critical' })
  await page.goto(server.page_url)
  await show(page, request)
  await page.keyboard.press('a')
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId: authenticator, isUserVerified: false })
  await page.getByRole('button', { name: 'Confirm with a passkey' }).click()
  await page.getByText('The passkey was not used: it was cancelled, or took too long.').waitFor()
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId: authenticator, isUserVerified: true })
  assert.equal((await agent.read(request)).state, 'pending')
})

test('X1 sessions are listed, and another one is ended at once', { skip }, async () => {
  const other = await open(server, 'ann')
  await page.goto(`${server.page_url}/settings`)
  await page.getByText('this one').waitFor()
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
  await page.getByText('ann is signed in here only.').waitFor()
  await other.getByText('Your session has ended').waitFor()
  assert.equal(await page.getByText('this one').count(), 1)
  await other.context().close()
})

test('X1 an admin sees and ends the sessions of others', { skip }, async () => {
  const admin = await open(server, 'admin')
  await admin.goto(`${server.page_url}/people`)
  const row = admin.getByRole('row', { name: /^ann/ })
  await row.getByRole('button', { name: 'Sessions' }).click()
  await admin.getByRole('dialog').getByRole('button', { name: 'Sign out' }).first().waitFor()
  await admin.context().close()
})

test('D9 a passkey is removed', { skip }, async () => {
  await page.goto(`${server.page_url}/settings`)
  await page.getByRole('button', { name: /^Remove Chrome on Linux/ }).click()
  await page.getByText('The passkey is removed.').waitFor()
  await eventually('it is gone', async () => (await page.getByRole('button', { name: /^Remove Chrome/ }).count()) === 0)
})

test('H8 a button in a message decides with its token alone, and says honestly when it cannot', { skip }, async () => {
  await page.context().grantPermissions(['notifications'], { origin: server.page_url })
  await page.goto(server.page_url)
  await eventually('the worker runs', () => page.evaluate(() => navigator.serviceWorker.controller !== null))
  const [worker] = page.context().serviceWorkers()
  await worker.evaluate(async () => {
    await self.registration.showNotification('Refund 24 EUR', { tag: 'req_1', data: { navigate: '/', token: 'not-a-token' } })
    const [notification] = await self.registration.getNotifications({ tag: 'req_1' })
    self.dispatchEvent(new NotificationEvent('notificationclick', { notification, action: 'approve' }))
  })
  await eventually('it says so', () => worker.evaluate(async () => (await self.registration.getNotifications({ tag: 'req_1' })).some((one) => one.body.startsWith('Not decided:'))))
})

for (const colorScheme of ['light', 'dark']) {
  test(`H6 axe finds nothing in the settings, ${colorScheme}`, { skip }, async () => {
    const window = await open(server, 'ann', { colorScheme, bypassCSP: true })
    await window.goto(`${server.page_url}/settings`)
    await window.getByText('this one').waitFor()
    await window.evaluate(axe_source)
    const { violations } = await window.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }))
    assert.deepEqual(violations.map((one) => `${one.id} ${one.nodes[0].html} ${one.nodes[0].failureSummary}`), [])
    await window.context().close()
  })
}
