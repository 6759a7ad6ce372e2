// Taking a decision back while the server holds it, seeing who else looks, and putting off on every device.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { armed, assertClean, closeBrowser, eventually, open, pause, prefer, rowOf, setStage, show, startEmpty } from './harness.mjs'
import { check, variants } from './looks.mjs'

let server, agent, ann, bob, page
before(async () => {
  ;({ server, agent, ann, bob, page } = await setStage('deploy-bot'))
})
beforeEach(() => startEmpty(server, page, bob))
afterEach(() => assertClean(page))
after(async () => {
  await closeBrowser()
  await server.stop()
})

const approveHigh = async (request) => {
  await show(page, request)
  await page.keyboard.press('a')
  await page.getByText('High risk: look once more').waitFor()
  await page.getByRole('button', { name: 'Approve now' }).click()
}

/** Twice, 60 ms apart, from inside the page: on a busy machine presses from outside come slower than any finger. */
const pressTwice = (press) =>
  page.evaluate(async (key) => {
    const armedAt = () => performance.getEntriesByName('armed').at(-1).startTime
    const before = armedAt()
    const act = () => (key ? document.body.dispatchEvent(new KeyboardEvent('keydown', { key, shiftKey: key === 'A', bubbles: true, cancelable: true })) : document.querySelector('article footer .btn-yes').click())
    act()
    await new Promise((resolve) => setTimeout(resolve, 60))
    // Where the page was held up for longer than that, it would be a press of its own: keys count 250 ms before a pointer does.
    if (armedAt() === before || performance.now() < armedAt() - 270) act()
  }, press)
/** Neither decided nor on its way to be. */
const isUntouched = async (request) => {
  const { state, held } = await agent.read(request)
  return state === 'pending' && !held?.length
}

for (const [name, key, group_key] of [['a double click', null, null], ['two quick taps', 'a', 'A']]) {
  test(`U2 D9 ${name} is one press: high risk still asks`, async () => {
    const request = await agent.act('deploy', { service: 'checkout' }, { risk: 'high' })
    await show(page, request)
    await pressTwice(key)
    await page.getByText('High risk: look once more').waitFor()
    await armed(page)
    assert.ok(await isUntouched(request))
    await page.getByRole('button', { name: 'Approve now' }).waitFor()
  })

  test(`U2 U1 ${name} is one press: several are still asked about`, async () => {
    const some = await Promise.all(['a', 'b', 'c'].map((order) => agent.act('refund', { order })))
    await page.locator('[id^="row-group"]').click()
    await page.getByRole('table').waitFor()
    await armed(page)
    await pressTwice(group_key)
    await page.getByText('3 requests will run as shown. Press again.').waitFor()
    await armed(page)
    for (const request of some) assert.ok(await isUntouched(request))
    await page.getByRole('button', { name: 'Yes, approve 3' }).waitFor()
  })
}

test('D8 U2 what is risky is held for a moment, and Undo takes it back', async () => {
  const request = await agent.act('deploy', { service: 'checkout' }, { risk: 'high' })
  await agent.act('other', {})
  await approveHigh(request)
  await page.getByText(/deploy: approved; it takes effect in \d s/).waitFor()
  assert.equal((await agent.read(request)).state, 'pending')
  await page.getByRole('button', { name: 'Undo' }).first().click()
  await page.getByText('deploy: taken back; it waits again').waitFor()
  const now = await agent.read(request)
  assert.deepEqual([now.state, now.held ?? []], ['pending', []])
  await page.getByRole('button', { name: 'Approve' }).waitFor()
})

test('D8 U2 the key z takes it back too; left alone it takes effect', async () => {
  const request = await agent.act('deploy', { service: 'checkout' }, { risk: 'high' })
  await agent.act('other', {})
  await approveHigh(request)
  await page.getByText(/it takes effect in/).waitFor()
  await page.locator('#requests').focus()
  await page.keyboard.press('z')
  await page.getByText('deploy: taken back; it waits again').waitFor()
  await armed(page)
  await approveHigh(request)
  await eventually('it takes effect', async () => (await agent.read(request)).outcome === 'approved')
  await rowOf(page, request).waitFor({ state: 'detached' })
})

test('D8 U2 a held z takes back once', async () => {
  const request = await agent.act('deploy', { service: 'checkout' }, { risk: 'high' })
  await agent.act('other', {})
  await approveHigh(request)
  await page.getByText(/it takes effect in/).waitFor()
  await page.locator('#requests').focus()
  const calls = []
  page.on('request', (call) => call.url().endsWith('/undo') && calls.push(call.url()))
  for (let i = 0; i < 6; ++i) await page.keyboard.down('z')
  await page.keyboard.up('z')
  await page.getByText('deploy: taken back; it waits again').waitFor()
  assert.equal(calls.length, 1)
  assert.equal(await page.getByText('There is nothing to take back any more.').count(), 0)
})

test('D8 U2 while a decision is on its way z takes back nothing', async () => {
  const [first, second, third] = [await agent.act('first', {}, { risk: 'high' }), await agent.act('second', {}, { risk: 'high' }), await agent.act('third', {})]
  await rowOf(page, third).waitFor()
  await approveHigh(first)
  await page.getByText(/first: approved; it takes effect/).waitFor()
  let release
  const is_released = new Promise((resolve) => (release = resolve))
  await page.route('**/v1/requests/*/decision', async (route) => {
    await is_released
    await route.continue()
  })
  const calls = []
  page.on('request', (call) => call.url().endsWith('/undo') && calls.push(call.url()))
  await approveHigh(second)
  await page.locator(`[data-request="${third.id}"]`).waitFor()
  await page.keyboard.press('z')
  await page.getByText('The decision is still on its way: press again.').waitFor()
  release()
  await page.getByText(/second: approved; it takes effect/).waitFor()
  assert.deepEqual(calls, [])
  // The last of it is drawn with the next frame.
  await armed(page)
  await page.keyboard.press('z')
  await page.getByText('second: taken back; it waits again').waitFor()
  await page.unroute('**/v1/requests/*/decision')
})

test('D8 several at once are held together and taken back together; a no counts at once', async () => {
  const some = await Promise.all(['a', 'b', 'c', 'd'].map((name) => agent.act('refund', { order: name })))
  await page.locator('[id^="row-group"]').click()
  await page.getByRole('table').waitFor()
  await armed(page)
  await page.getByRole('button', { name: 'Veto row 1' }).click()
  await page.getByRole('button', { name: 'Approve 3, reject 1' }).click()
  await page.getByRole('button', { name: 'Yes, approve 3, reject 1' }).click()
  // The one for all of them; each row has one of its own.
  await page.getByRole('button', { name: 'Undo', exact: true }).first().click()
  await page.getByText('3 requests taken back; they wait again').waitFor()
  const states = await Promise.all(some.map((request) => agent.read(request)))
  assert.equal(states.filter((one) => one.outcome === 'rejected').length, 1)
  await eventually('the others wait again', async () => (await Promise.all(some.map((request) => agent.read(request)))).filter((one) => one.state === 'pending' && !one.held).length === 3)
})

test('D8 what somebody else holds is seen, and a no of one’s own counts before it', async () => {
  const request = await agent.act('deploy', { service: 'checkout' })
  await bob.decide(request, 'approve', { undo_s: 30 })
  await show(page, request)
  await page.getByText('bob approved this.').waitFor()
  await page.keyboard.press('r')
  await page.getByText('This is not needed.').click()
  await page.getByRole('button', { name: 'Reject', exact: true }).click()
  await eventually('it is rejected', async () => (await agent.read(request)).outcome === 'rejected')
})

test('U2 holding everything, or nothing, is a setting', async () => {
  await prefer(page, { hold: 'all' })
  const request = await agent.act('small', {}, { risk: 'low' })
  await agent.act('other', {})
  await show(page, request)
  await page.keyboard.press('a')
  await page.getByText(/small: approved; it takes effect in/).waitFor()
  await prefer(page, { hold: 'off' })
  const risky = await agent.act('risky', {}, { risk: 'high' })
  await approveHigh(risky)
  await eventually('it is approved', async () => (await agent.read(risky)).outcome === 'approved')
  const { events } = await ann.get(`/v1/requests/${risky.id}/events`)
  assert.deepEqual(events.filter((event) => event.type === 'decision-held'), [], 'at once')
  await prefer(page, {})
})

test('H6 D8 whoever looks at the same request is seen, and goes', async () => {
  const request = await agent.act('deploy', { service: 'checkout' })
  await show(page, request)
  const other = await open(server, 'bob')
  await other.goto(`${server.page_url}/r/${request.id}`)
  await page.getByText('bob is looking at this too').waitFor()
  await other.getByText('ann is looking at this too').waitFor()
  await other.goto(`${server.page_url}/settings`)
  await page.getByText('bob is looking at this too').waitFor({ state: 'detached' })
  await assertClean(other)
  await other.context().close()
})

test('H6 what is put off is out of sight on every device of that person, and nobody else’s', async () => {
  const later = await agent.act('later', {}, { timeout_s: 3600 })
  const other = await agent.act('other', {}, { timeout_s: 3600 })
  await show(page, later)
  await page.keyboard.press('n')
  await page.getByRole('button', { name: '1 hour' }).click()
  await rowOf(page, later).waitFor({ state: 'detached' })
  const second = await open(server, 'ann')
  await rowOf(second, other).waitFor()
  assert.equal(await rowOf(second, later).count(), 0)
  await second.context().close()
  const bobs = await open(server, 'bob')
  await rowOf(bobs, later).waitFor()
  await bobs.context().close()
  // A held n brings it back, and does not begin to put it off again.
  await page.getByRole('button', { name: '1 later' }).click()
  await show(page, later)
  for (let i = 0; i < 6; ++i) {
    await page.keyboard.down('n')
    await pause(60)
  }
  await page.keyboard.up('n')
  await eventually('it is back', async () => !(await ann.read(later)).snoozed_until)
  assert.equal(await page.getByText('Not now: put it off').count(), 0)
  await page.getByRole('button', { name: '1 later' }).waitFor({ state: 'detached' })
  await page.goto(server.page_url)
})

for (const [name, options] of variants) {
  test(`H6 axe finds nothing while somebody looks, something is held, or is put off, ${name}`, async () => {
    const window = await open(server, 'ann', options)
    const request = await agent.act('deploy', { service: 'checkout' }, { timeout_s: 3600 })
    await bob.post(`/v1/requests/${request.id}/presence`, { looking: true })
    await bob.decide(request, 'approve', { undo_s: 30 })
    await window.goto(`${server.page_url}/r/${request.id}`)
    await window.getByText('bob approved this.').waitFor()
    await window.getByText('bob is looking at this too').waitFor()
    await check(window, 'held by somebody else')
    await bob.post(`/v1/requests/${request.id}/undo`)
    await ann.decide(request, 'approve', { undo_s: 30 })
    await window.getByText('You approved this.').waitFor()
    await check(window, 'held by me')
    await window.getByRole('button', { name: 'Undo' }).click()
    await window.getByText('deploy: taken back; it waits again').waitFor()
    await check(window, 'taken back')
    await window.getByRole('button', { name: 'More decisions' }).click()
    await window.getByRole('button', { name: /Not now/ }).click()
    await window.getByRole('button', { name: '1 hour' }).waitFor()
    await check(window, 'putting off')
    await window.context().close()
  })
}

test('D8 U2 a server that comes back with a shorter limit is asked for no more, and the page need not be loaded again', async () => {
  const request = await agent.act('deploy', { service: 'checkout' }, { risk: 'high' })
  await agent.act('other', {})
  await rowOf(page, request).waitFor()
  const statuses = []
  page.on('response', (answer) => answer.url().endsWith('/decision') && statuses.push(answer.status()))
  const asked = page.waitForResponse((answer) => answer.url().endsWith('/v1/session'))
  await server.halt()
  await page.getByText('No connection', { exact: true }).waitFor()
  server.flags = ['--undo-max', '4s']
  await server.run()
  await asked
  await page.getByText('Live', { exact: true }).waitFor()
  await approveHigh(request)
  await page.getByText(/deploy: approved; it takes effect in [1-4] s/).waitFor()
  assert.deepEqual(statuses, [200])
})
