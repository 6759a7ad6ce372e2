// The page as an app: without a connection, pushed to, and with requests put off.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { assertClean, closeBrowser, eventually, open, rowOf, Server, show, useWholeBrowser } from './harness.mjs'
import { check } from './looks.mjs'
import { deliver, shownMessages } from './push_service.mjs'

useWholeBrowser()

let server, agent, bob, page
before(async () => {
  server = await new Server().start()
  agent = await server.agent('billing-bot')
  await server.person('ann')
  bob = await server.person('bob')
  page = await open(server, 'ann', { permissions: ['notifications'] })
})
afterEach(() => assertClean(page))
after(async () => {
  await closeBrowser()
  await server.stop()
})

const controlled = () => eventually('the service worker controls the page', () => page.evaluate(() => navigator.serviceWorker.controller !== null))

test('H6 a request that is put off leaves the list, and can be brought back', async () => {
  const later = await agent.act('deploy', { service: 'checkout' }, { timeout_s: 3600 })
  const other = await agent.act('other', {}, { timeout_s: 3600 })
  await rowOf(page, other).waitFor()
  await show(page, later)
  await page.keyboard.press('n')
  await page.getByRole('button', { name: '1 hour' }).click()
  await rowOf(page, later).waitFor({ state: 'detached' })
  await page.getByText('1 waiting').waitFor()
  await page.reload()
  await rowOf(page, other).waitFor()
  assert.equal(await rowOf(page, later).count(), 0)
  await page.getByRole('button', { name: '1 later' }).click()
  await page.waitForURL((url) => url.searchParams.get('snoozed') === '1')
  await show(page, later)
  await page.keyboard.press('n')
  await page.getByRole('button', { name: '0 later' }).waitFor({ state: 'detached' })
  await page.goto(server.page_url)
  await rowOf(page, later).waitFor()
  // Others never stopped seeing it, and its deadline has not moved.
  assert.equal((await bob.read(later)).expires_at, later.expires_at)
  for (const one of [later, other]) await bob.decide(one, 'reject')
})

test('H6 what is about to expire cannot be put off', async () => {
  const soon = await agent.act('soon', {}, { timeout_s: 100 })
  await show(page, soon)
  await page.keyboard.press('n')
  await page.getByText('It ends too soon to be put off.').waitFor()
  assert.equal(await rowOf(page, soon).count(), 1)
  await bob.decide(soon, 'reject')
})

test('H6 without a connection the page still opens, decides nothing, and comes back by itself', async () => {
  await page.goto(server.page_url)
  await controlled()
  await server.halt('SIGKILL')
  await page.context().setOffline(true)
  await page.reload()
  await page.getByText('The server does not answer').waitFor()
  await check(page, 'opened without a server')
  assert.equal(await page.getByRole('button', { name: /Approve|Reject/ }).count(), 0)
  await server.run()
  await page.context().setOffline(false)
  await page.getByText('Nothing needs you').waitFor({ timeout: 60_000 })
})

test('X1 nothing of the server is kept by the service worker', async () => {
  await agent.act('secret_tool', { token: 'do-not-keep' })
  await page.goto(server.page_url)
  await page.getByText('secret_tool').first().waitFor()
  const kept = await page.evaluate(async () => {
    const found = []
    for (const name of await caches.keys()) for (const request of await (await caches.open(name)).keys()) found.push(new URL(request.url).pathname)
    return found
  })
  assert.ok(kept.includes('/'))
  assert.deepEqual(kept.filter((path) => path !== '/' && path !== '/icon.svg' && !path.startsWith('/assets/')), [])
})

const push = (message) => deliver(page, server.page_url, message)
const shown = () => shownMessages(page)
const message = (part = {}, more = {}) => ({
  web_push: 8030,
  notification: { title: 'Refund 24 EUR', body: 'billing-bot · medium risk', navigate: `${server.page_url}/r/req_1`, tag: 'req_1', lang: 'en', silent: false, ...part },
  app_badge: 1, mutable: true,
  holdpoint: { id: 'req_1', about: 'approval-required', state: 'pending', outcome: null, risk: 'medium', digest: 'sha256:0', expires_at: '2026-11-16T00:00:00.000Z', token: 't', ...more },
})

test('H8 a pushed request has buttons where the server allows them, and one notification each', async () => {
  await page.goto(server.page_url)
  await controlled()
  await push(message())
  const [first] = await eventually('it is shown', async () => (await shown()).length && shown())
  assert.deepEqual([first.title, first.tag, first.actions], ['Refund 24 EUR', 'req_1', ['Approve', 'Deny']])
  await push(message({ body: 'billing-bot · high risk' }, { risk: 'high', token: null }))
  await eventually('it is replaced, without buttons that decide', async () => {
    const all = await shown()
    return all.length === 1 && all[0].actions.join() === 'View' && all[0].body.includes('high')
  })
  await push(message({ body: 'Approved by bob' }, { state: 'settled', outcome: 'approved', token: null }))
  await eventually('it ends quietly', async () => {
    const all = await shown()
    return all.length === 1 && all[0].silent && all[0].body === 'Approved by bob'
  })
  await push('not json')
  await eventually('a notification is owed all the same', async () => (await shown()).some((one) => one.title === 'Something waits for you'))
})
