// The list: live, in order, searchable, honest about races, safe against stray keys.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { armed, assertClean, closeBrowser, eventually, open, pause, rowOf, Server, setStage, show, signIn, startEmpty } from './harness.mjs'
import { check, checkInBothWidths } from './looks.mjs'

let server, agent, ann, bob, page
before(async () => {
  ;({ server, agent, ann, bob, page } = await setStage('billing-bot'))
})
beforeEach(() => startEmpty(server, page, bob))
afterEach(() => assertClean(page))
after(async () => {
  await closeBrowser()
  await server.stop()
})

const ids = () => page.locator('[role=option]').evaluateAll((rows) => rows.sort((a, b) => a.ariaPosInSet - b.ariaPosInSet).map((row) => row.id.replace('row-', '')))
const pending = async () => (await ann.get('/v1/requests?state=pending&limit=100')).requests.length
const distinct = (count, more = {}) => Promise.all(Array.from({ length: count }, (_, i) => agent.act(`tool_${i}`, { i }, more)))

test('H6 H7 a request appears by itself, and goes when somebody else decides it', async () => {
  const request = await agent.act('deploy', { service: 'checkout' })
  await rowOf(page, request).waitFor()
  const other = await agent.act('other', {})
  await rowOf(page, other).waitFor()
  await bob.decide(other, 'approve')
  await rowOf(page, other).waitFor({ state: 'detached' })
})

test('U2 whoever goes to another page stays there, and no key decides on the page that was left', async () => {
  const request = await agent.act('deploy', { service: 'checkout' })
  // The service worker would have it ready.
  const other = await open(server, 'ann', { serviceWorkers: 'block' })
  let release
  const is_released = new Promise((resolve) => (release = resolve))
  // The next page takes its time to load.
  await other.route('**/chat_screen-*.js', async (route) => {
    await is_released
    await route.continue()
  })
  await show(other, request)
  await other.waitForTimeout(600)
  await other.getByRole('link', { name: 'Chat' }).first().click()
  await rowOf(other, request).waitFor({ state: 'hidden' })
  await other.keyboard.press('a')
  await other.waitForTimeout(600)
  assert.equal(new URL(other.url()).pathname, '/chat')
  assert.equal(await pending(), 1)
  release()
  await other.getByText('No conversation yet').waitFor()
  await assertClean(other)
  await other.context().close()
})

test('U2 keys mean nothing until the request stands on the page, and what could not be loaded comes by itself', async () => {
  const request = await agent.act('deploy', { service: 'checkout' })
  const other = await open(server, null, { serviceWorkers: 'block' })
  let [tries, release] = [0, null]
  const is_released = new Promise((resolve) => (release = resolve))
  await other.route('**/request_pane-*.js', async (route) => {
    if (++tries === 1) return route.abort()
    await is_released
    await route.continue()
  })
  // Whoever is quicker than any person: a press in the moment in which the request appears.
  await other.addInitScript(() => {
    const watch = new MutationObserver(() => {
      if (!document.querySelector('[data-request]')) return
      watch.disconnect()
      globalThis.presses = 0
      for (const key of ['a', 'a']) dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })), ++globalThis.presses
    })
    watch.observe(document, { childList: true, subtree: true })
  })
  await signIn(other, await server.link('ann'))
  await rowOf(other, request).click()
  await other.getByText('A part of this page could not be read').waitFor()
  await armed(other)
  for (const key of ['a', 'a', 'r', 'Enter']) await other.keyboard.press(key)
  await eventually('it is tried again', () => tries > 1)
  release()
  await other.locator(`[data-request="${request.id}"]`).waitFor()
  // Many browsers ask only once for an address that failed.
  const names = await other.evaluate(() => performance.getEntriesByType('resource').map((one) => one.name).filter((name) => name.includes('request_pane-')))
  assert.match(names.at(-1), /#1$/, 'it is tried under another name')
  await armed(other)
  assert.equal(await other.evaluate(() => globalThis.presses), 2)
  assert.equal(await pending(), 1, 'nothing was decided')
  await other.keyboard.press('a')
  await eventually('it is approved', async () => (await pending()) === 0)
  await assertClean(other)
  await other.context().close()
})

test('U1 the most pressing comes first', async () => {
  const low = await agent.act('low', {}, { risk: 'low' })
  const high = await agent.act('high', {}, { risk: 'high' })
  const critical = await agent.act('critical', {}, { risk: 'critical' })
  const urgent = await agent.act('urgent', {}, { risk: 'low', timeout_s: 50 })
  await eventually('all four are there', async () => (await ids()).length === 4)
  assert.deepEqual(await ids(), [urgent.id, critical.id, high.id, low.id])
})

/** The first press, then repeats without a release, until those of the next request counted if repeats did. */
async function holdKey(key, from) {
  await page.keyboard.down(key)
  await page.locator(`[data-request]:not([data-request="${from}"])`).waitFor()
  for (let round = 0; round < 2; ++round) {
    await armed(page)
    for (let i = 0; i < 5; ++i) await page.keyboard.down(key)
  }
  await page.keyboard.up(key)
}
/** Nothing is on its way to the server any more. */
const atEase = () => eventually('nothing is on its way', async () => (await page.getByText('approving…').count()) === 0)

test('U2 a held key decides once', async () => {
  await distinct(8)
  await eventually('all are there', async () => (await ids()).length === 8)
  await page.locator('[data-request]').waitFor()
  await armed(page)
  await holdKey('a', await page.locator('[data-request]').getAttribute('data-request'))
  await eventually('one is decided', async () => (await pending()) <= 7)
  await atEase()
  assert.equal(await pending(), 7)
})

test('U2 a held plus prolongs once', async () => {
  const request = await agent.act('slow', {})
  await rowOf(page, request).waitFor()
  await show(page, request)
  for (let i = 0; i < 6; ++i) await page.keyboard.down('+')
  await page.keyboard.up('+')
  await page.getByText('Five more minutes.').waitFor()
  const { events } = await ann.get(`/v1/requests/${request.id}/events`)
  assert.equal(events.filter((event) => event.type === 'request-extended').length, 1)
})

test('U2 three quick taps decide once', async () => {
  await distinct(5)
  await eventually('all are there', async () => (await ids()).length === 5)
  await page.locator('[data-request]').waitFor()
  await armed(page)
  // From inside the page, 60 ms apart: on a busy machine presses from outside come slower than any finger.
  await page.evaluate(async () => {
    const armedAt = () => performance.getEntriesByName('armed').at(-1).startTime
    const before = armedAt()
    for (let i = 0; i < 3; ++i) {
      // Where the page was held up for longer than that, it would be a press of its own: keys count 250 ms before a pointer does.
      if (armedAt() !== before && performance.now() >= armedAt() - 270) break
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true, cancelable: true }))
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
  })
  await eventually('one is decided', async () => (await pending()) <= 4)
  await pause(300)
  assert.equal(await pending(), 4)
})

test('U2 H6 on a narrow page no key decides while the list stands where the request would, and nobody is said to look', async () => {
  const page = await open(server, 'ann', { viewport: { width: 680, height: 860 } })
  const some = [await agent.act('narrow', { to: 'a' }, { risk: 'low' }), await agent.act('wide', { to: 'b' }, { risk: 'low' })]
  await rowOf(page, some[1]).waitFor()
  const told = []
  page.on('request', (call) => call.url().endsWith('/presence') && told.push(call.url()))
  await page.keyboard.press('j')
  await page.locator('[aria-selected=true]').waitFor()
  // The part with which people decide is fetched ahead of its use.
  await page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name }) => name.includes('request_pane')))
  for (let i = 0; i < 3; ++i) {
    await armed(page)
    await page.keyboard.press('a')
  }
  assert.equal(await page.locator('article').count(), 0)
  assert.equal(await page.getByText(/approved/).count(), 0)
  for (const request of some) assert.equal((await agent.read(request)).state, 'pending')
  assert.deepEqual(told, [])
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.locator('article').waitFor()
  await eventually('the focus is on what opened', () => page.evaluate(() => document.activeElement.closest('article') !== null))
  await assertClean(page)
  await page.context().close()
})

test('U2 a double click and a held Enter on the button decide once', async () => {
  await distinct(6)
  await eventually('all are there', async () => (await ids()).length === 6)
  await page.locator('[data-request]').waitFor()
  await armed(page)
  const first = await page.locator('[data-request]').getAttribute('data-request')
  await page.getByRole('button', { name: 'Approve' }).dblclick()
  await page.locator(`[data-request]:not([data-request="${first}"])`).waitFor()
  await armed(page)
  // A press that counts comes after both halves of the click: when it is decided, so is whatever they decided.
  const second = await page.locator('[data-request]').getAttribute('data-request')
  await page.getByRole('button', { name: 'Approve' }).focus()
  await holdKey('Enter', second)
  await eventually('both are decided', async () => (await pending()) <= 4)
  await atEase()
  assert.equal(await pending(), 4)
})

/** When what stands on the page can be decided: another moment for each that comes to stand there. */
const armedAt = () => page.evaluate(() => performance.getEntriesByName('armed').at(-1)?.startTime ?? 0)

/** The second half of a double click, as slow as people set it: half a second, whatever else the machine does. */
const slowSecondClick = (x, y, before) =>
  page.evaluate(
    ([x, y, before]) =>
      new Promise((resolve, reject) => {
        const armedAt = () => performance.getEntriesByName('armed').at(-1)?.startTime ?? 0
        const limit = setTimeout(() => reject(new Error('the first half changed nothing')), 20_000)
        const look = setInterval(() => {
          if (armedAt() === before || performance.now() < armedAt() - 190) return
          clearInterval(look)
          clearTimeout(limit)
          // Half a second later than that it would be a click of its own.
          if (performance.now() < armedAt() - 20) document.elementFromPoint(x, y).dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, detail: 1 }))
          resolve()
        }, 5)
      }),
    [x, y, before],
  )

test('U2 a slow double click on a panel decides only what the panel is about', async () => {
  await distinct(6)
  await eventually('all are there', async () => (await ids()).length === 6)
  await page.locator('[data-request]').waitFor()
  const decided = async (count) => eventually(`${count} are decided`, async () => (await pending()) === 6 - count)
  for (const [key, name] of [['r', 'Reject'], ['x', 'Abort the run']]) {
    await armed(page)
    const before = await pending()
    await page.keyboard.press(key)
    const button = page.locator('[data-panel]').getByRole('button', { name, exact: true })
    await button.waitFor()
    const box = await button.boundingBox()
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
    // Asked for before the click, and not beside it: the page may be quicker with the click than with the question.
    const before_click = await armedAt()
    await page.mouse.click(x, y)
    await slowSecondClick(x, y, before_click)
    await decided(7 - before)
    // Where the page is slow the second half of a quick one comes late: it says itself what it is.
    await armed(page)
    await page.mouse.move(x, y)
    await page.mouse.down({ clickCount: 2 })
    await page.mouse.up({ clickCount: 2 })
    await pause(400)
    assert.equal(await pending(), before - 1)
  }
})

test('D8 two people decide at once: one wins, the other sees who', async () => {
  const request = await agent.act('deploy', { service: 'checkout' })
  const rest = await agent.act('other', {})
  await rowOf(page, rest).waitFor()
  await show(page, request)
  // The page's own decision is held back until bob's has been made.
  await page.route('**/v1/requests/*/decision', async (route) => {
    await bob.decide(request, 'reject', { reason: 'not on a Friday' })
    await route.continue()
  })
  await page.keyboard.press('a')
  await page.getByText(/deploy: not your decision\. bob rejected this/).waitFor()
  await checkInBothWidths(page, 'somebody was faster')
  await page.unroute('**/v1/requests/*/decision')
  const now = await agent.read(request)
  assert.equal(now.outcome, 'rejected')
  assert.equal(now.decision.by, 'bob')
  await page.getByRole('link', { name: 'Look' }).click()
  await page.getByText('not on a Friday').first().waitFor()
})

test('D8 what is decided under my eyes stays, with who decided it', async () => {
  const request = await agent.act('deploy', { service: 'checkout' })
  await agent.act('other', {})
  await rowOf(page, request).waitFor()
  await show(page, request)
  await bob.decide(request, 'approve')
  await page.getByText(/bob approved this/).first().waitFor()
  assert.equal(await page.getByRole('button', { name: 'Approve' }).count(), 0)
  await page.keyboard.press('a')
  await page.keyboard.press('j')
  await rowOf(page, request).waitFor({ state: 'detached' })
})

test('D8 a page that shows an old version cannot decide', async () => {
  const request = await agent.act('pay', { amount: 24 }, { requirement: { lines: [{ quorum: 2 }] } })
  await rowOf(page, request).waitFor()
  await show(page, request)
  await page.route('**/v1/requests/*/decision', async (route) => {
    await bob.decide(request, 'modify', { arguments: { amount: 9999 } })
    await route.continue()
  })
  await page.keyboard.press('a')
  await page.getByText(/not decided\. .*look again/i).waitFor()
  await page.unroute('**/v1/requests/*/decision')
  await page.goto(`${server.page_url}/r/${request.id}`)
  await page.getByText('bob changed this.').waitFor()
  assert.equal((await agent.read(request)).state, 'pending')
})

// Presses the key in the very moment in which `text` comes onto the page: nobody is faster.
const pressWhenSeen = (window, text) =>
  window.evaluate((wanted) => {
    const observer = new MutationObserver(() => {
      if (!document.body.innerText.includes(wanted)) return
      observer.disconnect()
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true, cancelable: true }))
    })
    observer.observe(document.body, { subtree: true, childList: true, characterData: true })
  }, text)

test('D8 D9 what somebody changes under my eyes is not what I confirm: the panel goes, and it says who changed what', async () => {
  const request = await agent.act('pay', { amount: 24 }, { risk: 'high', requirement: { lines: [{ quorum: 2 }] } })
  await show(page, request)
  await page.keyboard.press('a')
  await page.getByRole('button', { name: 'Approve now' }).waitFor()
  await bob.decide(request, 'modify', { arguments: { amount: 9999 } })
  const told = page.getByRole('alert').filter({ hasText: 'bob changed this while you were looking' })
  await told.waitFor()
  await checkInBothWidths(page, 'changed under my eyes')
  assert.match(await told.innerText(), /amount[^]*24[^]*9999/)
  assert.equal(await page.getByRole('button', { name: 'Approve now' }).count(), 0)
  // Read again, and decided anew, it counts.
  await armed(page)
  await page.keyboard.press('a')
  await page.getByRole('button', { name: 'Approve now' }).click()
  await eventually('it is approved as changed', async () => (await agent.read(request)).outcome !== null)
  assert.deepEqual((await agent.read(request)).release.arguments, { amount: 9999 })
})

test('U2 D8 a press in the moment of a change decides nothing', async () => {
  const request = await agent.act('pay', { amount: 24 }, { requirement: { lines: [{ quorum: 2 }] } })
  await show(page, request)
  await pressWhenSeen(page, '9999')
  await bob.decide(request, 'modify', { arguments: { amount: 9999 } })
  await page.getByText('bob changed this while you were looking').waitFor()
  await pause(300)
  assert.deepEqual((await agent.read(request)).votes.map((vote) => vote.by), ['bob'])
})

/**
 * Types without a pause, also when the field has gone, until `seen` is there and armed; and some more. In the page itself: a busy
 * machine would make pauses after which a key is meant.
 */
const typeOn = (keys, seen) =>
  page.evaluate(
    ({ keys, seen }) =>
      new Promise((resolve) => {
        let count = 0
        let more = keys.length
        const timer = setInterval(() => {
          const target = document.activeElement ?? document.body
          target.dispatchEvent(new KeyboardEvent('keydown', { key: keys[count++ % keys.length], bubbles: true, cancelable: true }))
          const is_armed = performance.now() >= performance.getEntriesByName('armed').at(-1).startTime
          if (is_armed && document.body.innerText.includes(seen)) --more
          if (more > 0) return
          clearInterval(timer)
          resolve(null)
        }, 50)
      }),
    { keys, seen },
  )

test('U2 D8 whoever types while somebody changes the request does not decide what it became', async () => {
  const request = await agent.act('pay', { amount: 24 }, { risk: 'low', requirement: { lines: [{ quorum: 2 }] } })
  await show(page, request)
  await page.keyboard.press('r')
  await page.getByRole('textbox', { name: /Why/ }).waitFor()
  await page.keyboard.type('a bad idea')
  const told = 'bob changed this while you were looking'
  await Promise.all([bob.decide(request, 'modify', { arguments: { amount: 9999 } }), typeOn('aaa', told)])
  await atEase()
  assert.deepEqual((await agent.read(request)).votes.map((vote) => vote.by), ['bob'])
  // After a click it is meant.
  await page.getByText(told).click()
  await page.keyboard.press('a')
  await eventually('it has both votes', async () => (await agent.read(request)).outcome !== null)
})

test('U2 D8 whoever types while somebody decides the request decides no other', async () => {
  const [request, other] = [await agent.act('first', {}, { risk: 'medium' }), await agent.act('second', {}, { risk: 'low' })]
  await rowOf(page, other).waitFor()
  await show(page, request)
  await page.keyboard.press('r')
  await page.getByRole('textbox', { name: /Why/ }).waitFor()
  await page.keyboard.type('just')
  await Promise.all([bob.decide(request, 'reject'), typeOn('jjjjaaaa', 'Go on')])
  await atEase()
  assert.equal(await page.locator(`[data-request="${request.id}"]`).count(), 1, 'it stays on the screen')
  const { state, held } = await ann.read(other)
  assert.deepEqual([state, held ?? null], ['pending', null])
})

test('H6 filters and search live in the address', async () => {
  const wanted = await agent.act('deploy', { service: 'checkout', note: 'Blue Lamp' }, { risk: 'high' })
  await agent.act('deploy', { service: 'search' }, { risk: 'low' })
  await agent.act('refund', { amount: 1 })
  await eventually('all are there', async () => (await ids()).length === 3)
  await page.keyboard.press('/')
  await page.keyboard.type('lamp check')
  await eventually('one is left', async () => (await ids()).join() === wanted.id)
  await page.waitForURL(/q=lamp\+check/)
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.getByLabel('Risk').selectOption('high')
  await eventually('one is left', async () => (await ids()).join() === wanted.id)
  await page.waitForURL(/risk=high/)
  const url = page.url()
  await page.goto('about:blank')
  await page.goto(url)
  await eventually('the same after coming back', async () => (await ids()).join() === wanted.id)
  // What looks encoded is meant as it was typed.
  const odd = await agent.act('note', { text: 'save 100%41' })
  await page.goto(`${server.page_url}/?q=${encodeURIComponent('100%41')}`)
  await eventually('that one is found', async () => (await ids()).join() === odd.id)
})

test('H6 the keyboard alone reaches everything', async () => {
  const [first, second] = [await agent.act('first', {}, { risk: 'high' }), await agent.act('second', {}, { risk: 'low' })]
  await eventually('both are there', async () => (await ids()).length === 2)
  await page.keyboard.press('g')
  assert.equal(await rowOf(page, first).getAttribute('aria-selected'), 'true')
  await page.keyboard.press('j')
  assert.equal(await rowOf(page, second).getAttribute('aria-selected'), 'true')
  await page.keyboard.press('k')
  assert.equal(await rowOf(page, first).getAttribute('aria-selected'), 'true')
  await page.keyboard.press('?')
  await page.getByRole('heading', { name: 'Keys' }).waitFor()
  await page.keyboard.press('a')
  await page.keyboard.press('Escape')
  await pause(100)
  assert.equal(await pending(), 2, 'an open dialog owns the keyboard')
  await page.keyboard.press('r')
  await page.getByRole('textbox', { name: /Why/ }).waitFor()
  await page.keyboard.type('a a a')
  await page.keyboard.press('Escape')
  assert.equal(await pending(), 2, 'typing decides nothing')
})

test('H6 arrows and Space scroll what is asked while that has the focus, and are keys of the list elsewhere', async () => {
  const [long] = [await agent.act('long', { text: 'line\n'.repeat(400) }, { risk: 'high' }), await agent.act('short', {}, { risk: 'low' })]
  await eventually('it is there', async () => (await ids()).includes(long.id))
  await show(page, long)
  const asked = page.getByRole('region', { name: 'What is asked' })
  const top = () => asked.evaluate((box) => box.scrollTop)
  await asked.focus()
  for (const key of ['ArrowDown', ' ', 'ArrowDown']) {
    const before = await top()
    await page.keyboard.press(key)
    await eventually(`${key} scrolls`, async () => (await top()) > before)
  }
  assert.equal(await rowOf(page, long).getAttribute('aria-selected'), 'true')
  assert.equal(await rowOf(page, long).getAttribute('aria-checked'), 'false')
  await page.locator('#requests').focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press(' ')
  await eventually('the list hears them', async () => (await rowOf(page, long).getAttribute('aria-checked')) === 'true')
  await page.keyboard.press(' ')
})

test('H6 single keys can be switched off', async () => {
  await agent.act('one', {})
  await eventually('it is there', async () => (await ids()).length === 1)
  await page.goto(`${server.page_url}/settings`)
  await page.getByLabel('Single-key shortcuts').uncheck()
  await page.goto(server.page_url)
  await page.locator('[data-request]').waitFor()
  await armed(page)
  await page.keyboard.press('a')
  // Had it counted, the request would be on its way with the next frame, and its button gone.
  await armed(page)
  await atEase()
  assert.equal(await pending(), 1)
  await page.goto(`${server.page_url}/settings`)
  await page.getByLabel('Single-key shortcuts').check()
})

/** From the first row so many down, and the list stands there. */
async function goDown(rows) {
  const at = (place) => page.locator(`[role=option][aria-selected=true][aria-posinset="${place}"]`).waitFor()
  await page.keyboard.press('g')
  await at(1)
  for (let i = 0; i < rows; ++i) await page.keyboard.press('j')
  await at(rows + 1)
}

test('U1 what is new never moves the row under the cursor', async () => {
  await distinct(30)
  await eventually('they are there', async () => (await page.getByText('30 waiting').count()) === 1)
  const selected = page.locator('[role=option][aria-selected=true]')
  await goDown(15)
  const [name, top] = [await selected.getAttribute('id'), (await selected.boundingBox()).y]
  await Promise.all(Array.from({ length: 5 }, (_, i) => agent.act(`new_${i}`, { i }, { risk: 'critical' })))
  await page.getByText('35 waiting').waitFor()
  await page.getByRole('button', { name: '5 new above' }).waitFor()
  assert.equal(await selected.getAttribute('id'), name)
  assert.ok(Math.abs((await selected.boundingBox()).y - top) < 2, 'the row stays where it is')
})

test('U1 what is new never moves the row under the cursor of a short list either, nor the one under the pointer', async () => {
  await distinct(5)
  const last = await agent.act('last', {})
  await page.getByText('6 waiting').waitFor()
  await page.mouse.move(1000, 300)
  const selected = page.locator('[role=option][aria-selected=true]')
  await goDown(2)
  const stays = async (row, come, new_above) => {
    const [name, top] = [await row.getAttribute('id'), (await row.boundingBox()).y]
    const waiting = Number((await page.getByText(/^\d+ waiting$/).innerText()).split(' ')[0])
    for (const [i, risk] of come.entries()) await agent.act(`new_${waiting + i}`, {}, { risk })
    await page.getByText(`${waiting + come.length} waiting`, { exact: true }).waitFor()
    await eventually('it says how many came in above', async () => (await page.getByRole('button', { name: /new above/ }).allInnerTexts()).join().trim() === (new_above ? `${new_above} new above` : ''))
    assert.equal(await row.getAttribute('id'), name)
    assert.ok(Math.abs((await row.boundingBox()).y - top) < 2, `${come.join()}: the row stays where it is`)
  }
  await stays(selected, ['medium', 'medium'], 0)
  await stays(selected, ['critical', 'critical'], 2)
  await page.getByRole('button', { name: '2 new above' }).click()
  await eventually('the list is back at its beginning', () => page.evaluate(() => document.getElementById('requests').scrollTop === 0))
  // The pointer is on the way to a row below the cursor, and what comes stands between the two.
  await page.keyboard.press('g')
  await page.waitForTimeout(100)
  const { x, y } = await rowOf(page, last).boundingBox()
  await page.mouse.move(x + 100, y + 20)
  const under = () => page.evaluate(([x, y]) => document.elementFromPoint(x, y).closest('[role=option]').id, [x + 100, y + 20])
  const before = await under()
  await stays(rowOf(page, last), ['high', 'critical'], 0)
  assert.equal(await under(), before)
})

test('H7 a server that restarts loses the page nothing', async () => {
  const kept = await agent.act('kept', {})
  await rowOf(page, kept).waitFor()
  await server.halt('SIGKILL')
  await page.getByText('No connection', { exact: true }).waitFor()
  await page.getByText('deciding waits until it is back').waitFor()
  await checkInBothWidths(page, 'no connection')
  // Long armed: only the missing connection keeps this press from being sent as soon as the server is back.
  await armed(page)
  await page.keyboard.press('a')
  await server.run()
  const fresh = await agent.act('fresh', {})
  await page.getByText('Live', { exact: true }).waitFor({ timeout: 60_000 })
  await rowOf(page, fresh).waitFor()
  assert.equal((await agent.read(kept)).state, 'pending')
  await show(page, kept)
  await page.keyboard.press('a')
  await eventually('it is approved', async () => (await agent.read(kept)).outcome === 'approved')
})

test('H7 a decision made while the server is away arrives once, or is honestly not made', async () => {
  const request = await agent.act('once', {})
  await rowOf(page, request).waitFor()
  await show(page, request)
  let calls = 0
  await page.route('**/v1/requests/*/decision', async (route) => {
    // The first call reaches the server, but its answer is lost on the way back.
    if (++calls === 1) {
      await route.fetch()
      await route.abort()
    } else await route.continue()
  })
  await page.keyboard.press('a')
  await page.getByText('once: approved').waitFor()
  await page.unroute('**/v1/requests/*/decision')
  assert.ok(calls >= 2)
  const { events } = await ann.get(`/v1/requests/${request.id}/events`)
  assert.equal(events.filter((event) => event.type === 'request-settled').length, 1)
})

test('X1 signing out that does not reach the server is told, and the page stays', async () => {
  await server.person('nina')
  const window = await open(server, 'nina')
  await window.goto(`${server.page_url}/settings`)
  const sign_out = window.getByRole('button', { name: 'Sign out' })
  await sign_out.waitFor()
  await server.halt('SIGKILL')
  await sign_out.click()
  await window.getByText('You may still be signed in.').waitFor()
  await sign_out.waitFor()
  await server.run()
  // The session is as alive as the page says.
  await window.reload()
  await sign_out.click()
  await window.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
  assert.equal(await window.getByText('You may still be signed in.').count(), 0)
  await assertClean(window)
  await window.context().close()
  await page.getByText('Live', { exact: true }).waitFor({ timeout: 60_000 })
})

test('H6 two tabs share one stream and both stay live', async () => {
  const other = await page.context().newPage()
  await other.goto(server.page_url)
  await other.getByText('Live', { exact: true }).waitFor()
  const request = await agent.act('both', {})
  await rowOf(page, request).waitFor()
  await rowOf(other, request).waitFor()
  await eventually('there is one stream', async () => (await ann.get('/v1/stats')).streams === 1)
  await page.goto('about:blank')
  const second = await agent.act('left over', {})
  await rowOf(other, second).waitFor({ timeout: 60_000 })
  await other.close()
})

test('X1 a session that ends leads to the sign-in, and back to the same request', async () => {
  const carol = await server.person('carol')
  const window = await open(server, 'carol')
  const request = await agent.act('deploy', {})
  await window.goto(`${server.page_url}/r/${request.id}`)
  await window.getByRole('heading', { name: 'deploy' }).waitFor()
  await server.admin.post('/v1/users/carol/password', { password: 'correct horse battery' })
  await window.waitForTimeout(600)
  await window.keyboard.press('a')
  await window.getByText('Your session has ended.').waitFor()
  await checkInBothWidths(window, 'session ended')
  assert.equal((await agent.read(request)).state, 'pending')
  await window.getByLabel('Name').fill('carol')
  await window.getByLabel('Password').fill('correct horse battery')
  await window.getByRole('button', { name: 'Sign in' }).click()
  await window.getByRole('heading', { name: 'deploy' }).waitFor()
  await assertClean(window)
  await window.context().close()
  assert.equal(carol.name, 'carol')
})

test('X1 a session whose time is up decides nothing, and the page says so', async () => {
  const other = await new Server().start()
  const bot = await other.agent('bot')
  const window = await open(other, 'admin')
  const request = await bot.act('deploy', {})
  await show(window, request)
  await other.halt()
  // Twelve hours later, as far as the store knows.
  const script = 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); print(c.execute("UPDATE session SET expires_at = 1000").rowcount); c.commit()'
  assert.match(execFileSync('/usr/bin/python3', ['-c', script, join(other.data, 'holdpoint.db')], { encoding: 'utf8' }), /^[1-9]/)
  await other.run()
  await window.getByText('Your session has ended.').waitFor({ timeout: 30_000 })
  await window.keyboard.press('a')
  assert.equal((await bot.read(request)).state, 'pending')
  await assertClean(window)
  await window.context().close()
  await other.stop()
})

test('X1 an idle page notices that its session has ended', async () => {
  await server.person('dora')
  const window = await open(server, 'dora')
  await server.admin.post('/v1/users/dora/disable')
  await window.getByText('Your session has ended.').waitFor({ timeout: 30_000 })
  await window.context().close()
})

test('X1 auditors see everything and are offered no decision', async () => {
  await server.person('otto', { role: 'auditor' })
  const window = await open(server, 'otto')
  const request = await agent.act('deploy', {})
  await rowOf(window, request).waitFor()
  await window.getByText('You cannot decide this: you may look, not decide.').waitFor()
  assert.equal(await window.getByRole('link', { name: 'People' }).count(), 0)
  await window.context().close()
})

test('X1 a wrong password says so and signs nobody in', async () => {
  const window = await open(server, null)
  await window.goto(server.page_url)
  await window.getByLabel('Name').fill('ann')
  await window.getByLabel('Password').fill('wrong')
  await window.getByRole('button', { name: 'Sign in' }).click()
  await window.getByRole('alert').waitFor()
  await checkInBothWidths(window, 'wrong password')
  await window.context().close()
})

test('H6 the token of a sign-in link leaves the address before anything else', async () => {
  const window = await open(server, null)
  await window.goto(await server.link('ann'))
  assert.equal(new URL(window.url()).hash, '')
  await window.getByRole('button', { name: 'Sign in' }).waitFor()
  await window.context().close()
})

test('X1 what one person began is not there for the next one, who signed in over them', async () => {
  const request = await agent.act('whose_draft', {})
  const shared = await open(server, 'ann')
  await show(shared, request)
  await shared.keyboard.press('r')
  await shared.getByRole('textbox', { name: /Why/ }).waitFor()
  await shared.keyboard.type('what ann thinks')
  // Another tab signs bob in; this one learns of it when it connects again.
  const [name, value] = (await server.signedIn('bob')).proof.Cookie.split('=')
  await shared.context().addCookies([{ name, value, url: server.page_url }])
  await server.halt()
  await shared.getByText('No connection').first().waitFor()
  await server.run()
  await shared.getByText('bob · approver').waitFor()
  await shared.locator('[data-panel]').waitFor({ state: 'detached' })
  await show(shared, request)
  await shared.keyboard.press('r')
  assert.equal(await shared.getByRole('textbox', { name: /Why/ }).inputValue(), '')
  await shared.context().close()
})

test('X1 D8 what one person presses is not sent as another who signed in over them, and the page says who it is now', async () => {
  const request = await agent.act('whose_press', {})
  const shared = await open(server, 'ann')
  await show(shared, request)
  const over = async (name) => {
    const [cookie, value] = (await server.signedIn(name)).proof.Cookie.split('=')
    await shared.context().addCookies([{ name: cookie, value, url: server.page_url }])
  }
  await over('bob')
  await shared.keyboard.press('a')
  await shared.getByText('bob is signed in now, in this browser.').waitFor()
  await shared.getByText('whose_press: not decided. This was begun as ann.').waitFor()
  await shared.getByText('bob · approver').waitFor()
  assert.equal((await agent.read(request)).state, 'pending')
  // Whoever only signed in anew is not asked to press again.
  await over('bob')
  await show(shared, request)
  await shared.keyboard.press('a')
  await eventually('bob decides', async () => (await agent.read(request)).decision?.by === 'bob')
  // Another tab tells this one at once.
  const other = await shared.context().newPage()
  await over('ann')
  await other.goto(server.page_url)
  await shared.getByText('ann · approver').waitFor()
  await shared.context().close()
})

test('X1 a link that is opened where somebody is signed in asks who decides from now on', async () => {
  const shared = await open(server, 'ann')
  const asked = await agent.act('whose_word', {})
  const link = await server.link('bob')
  await shared.goto(link)
  await shared.getByText('You are signed in as ann. Sign in with this link instead?').waitFor()
  await checkInBothWidths(shared, 'a link where somebody is signed in')
  await shared.keyboard.press('a')
  // It is not used up by putting it aside, nor by a server that does not answer.
  await shared.getByRole('button', { name: 'Go on as ann' }).click()
  await shared.getByText('ann · approver').waitFor()
  await shared.goto(link)
  await shared.route('**/v1/session', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()))
  await shared.getByRole('button', { name: 'Sign in with this link' }).click()
  await shared.getByText('The server does not answer.').waitFor()
  await shared.unroute('**/v1/session')
  await shared.getByRole('button', { name: 'Sign in with this link' }).click()
  await shared.getByText('bob · approver').waitFor()
  await show(shared, asked)
  await shared.keyboard.press('a')
  await eventually('bob decides', async () => (await agent.read(asked)).decision?.by === 'bob')
  await shared.setViewportSize({ width: 390, height: 664 })
  await shared.goto(server.page_url)
  await shared.getByRole('button', { name: 'More', exact: true }).click()
  await shared.getByRole('dialog').getByText('You are bob · approver').waitFor()
  await shared.context().close()
})

test('X1 a link is kept while the server does not answer', async () => {
  const guest = await open(server, null)
  await guest.goto(await server.link('bob'))
  await guest.route('**/v1/session', (route) => route.abort())
  await guest.getByRole('button', { name: 'Sign in' }).click()
  await guest.getByText('The server does not answer.').waitFor()
  await guest.unroute('**/v1/session')
  await guest.getByRole('button', { name: 'Sign in' }).click()
  await guest.getByText('Live', { exact: true }).waitFor()
  await guest.context().close()
})

test('H6 the title of the window says where one is and how many wait, and nothing once somebody signed out', async () => {
  await agent.act('counted', {})
  const waiting = await pending()
  const window = await open(server, 'ann')
  const is = (title) => eventually(`the title is ${title}`, async () => (await window.title()) === title)
  await is(`(${waiting}) Holdpoint`)
  for (const [path, name] of [['history', 'History'], ['stats', 'Statistics'], ['settings', 'Settings']]) {
    await window.goto(`${server.page_url}/${path}`)
    await is(`(${waiting}) ${name} · Holdpoint`)
  }
  await agent.act('counted_too', {})
  await is(`(${waiting + 1}) Settings · Holdpoint`)
  await window.getByRole('button', { name: 'Sign out', exact: true }).first().click()
  await window.getByText('No password?').waitFor()
  await is('Holdpoint')
  await window.context().close()
})

test('S2 S3 history finds, and tells the whole story of a request', async () => {
  const request = await agent.act('archive', { id: 7 }, { session: 'story' })
  await bob.decide(request, 'modify', { arguments: { id: 8 }, note: 'the other one' })
  await agent.post(`/v1/requests/${request.id}/report`, { success: false, error: 'no such thing' })
  await page.goto(`${server.page_url}/history?session=story`)
  await page.getByRole('link', { name: /archive/ }).click()
  for (const text of ['Approved with changes', 'the other one', 'no such thing', 'The agent was told']) await page.getByText(text).first().waitFor()
  await page.getByText('bob settled it').waitFor()
  await page.getByText('127.0.0.1').first().waitFor()
})

test('H6 what is opened from history is what is shown, whatever else waits', async () => {
  const old = await agent.act('archive', { id: 7 }, { session: 'opened' })
  await bob.decide(old, 'reject', { reason: 'not this one' })
  const rest = await distinct(3)
  await page.goto(`${server.page_url}/history?session=opened`)
  await page.getByRole('link', { name: /archive/ }).click()
  await page.getByText('“not this one”').waitFor()
  await page.waitForTimeout(400)
  assert.match(page.url(), new RegExp(`/r/${old.id}$`))
  await rowOf(page, rest[0]).waitFor()
  await page.getByText('“not this one”').waitFor()
})

test('S5 statistics show what waits and how it ended', async () => {
  await agent.act('one', {})
  await page.goto(`${server.page_url}/stats`)
  await page.getByText('waiting now', { exact: true }).waitFor()
  await page.getByRole('heading', { name: 'How it ended' }).waitFor()
})

test('H6 an admin makes people, links and keys, and ends them', async () => {
  const window = await open(server, 'admin')
  await window.goto(`${server.page_url}/people`)
  await window.getByRole('button', { name: 'New person' }).click()
  await window.getByLabel('Name').fill('zoe')
  await window.getByLabel('Groups, separated by commas').fill('legal, finance')
  await window.getByRole('button', { name: 'Make, and get a sign-in link' }).click()
  const link = await window.getByText(/\/sign-in#/).innerText()
  const guest = await open(server, null)
  await signIn(guest, link)
  await guest.getByText('zoe').waitFor()
  await guest.context().close()
  await window.keyboard.press('Escape')
  await window.getByRole('button', { name: 'New key' }).click()
  await checkInBothWidths(window, 'new key')
  await window.getByLabel('Name').fill('new-bot')
  await window.getByRole('button', { name: 'Make the key' }).click()
  const key = await window.getByRole('dialog').getByText(/^hp_agent_/).innerText()
  assert.match(key, /^hp_agent_[\w-]{43}$/)
  await checkInBothWidths(window, 'the key, shown once')
  await window.keyboard.press('Escape')
  await window.getByRole('row', { name: /new-bot · agent/ }).getByRole('button', { name: 'Revoke' }).click()
  await window.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await eventually('the key is dead', async () => (await fetch(`${server.url}/v1/me`, { headers: { Authorization: `Bearer ${key}` } })).status === 401)
  await assertClean(window)
  await window.context().close()
})

test('H6 a link to one request opens that one, whatever else waits', async () => {
  const made = await distinct(4)
  for (const request of made) {
    await page.goto(`${server.page_url}/r/${request.id}`)
    await page.locator(`[data-request="${request.id}"]`).waitFor()
    await page.waitForTimeout(400)
    assert.equal(new URL(page.url()).pathname, `/r/${request.id}`)
    assert.equal(await rowOf(page, request).getAttribute('aria-selected'), 'true')
  }
  const no_such = async () => {
    await page.goto(`${server.page_url}/r/req_00000000000000000000000000`)
    await page.getByText('There is no such request').waitFor()
  }
  await no_such()
  await startEmpty(server, page, ann)
  await no_such()
  await page.getByRole('button', { name: 'To the inbox' }).click()
  await page.getByText('Nothing needs you').waitFor()
  // What is decided is not, for a moment, nothing.
  await page.goto(`${server.page_url}/r/${made[0].id}`)
  await page.locator('h1', { hasText: /Nothing needs you|tool/ }).or(page.locator(`[data-request="${made[0].id}"]`)).first().waitFor()
  assert.equal(await page.locator(`[data-request="${made[0].id}"]`).count(), 1)
})

test('H6 a link to a request that cannot be read says so, and not that nothing waits', async () => {
  const request = await agent.act('deploy', {})
  await bob.decide(request, 'reject')
  const address = `**/v1/requests/${request.id}`
  for (const [status, code] of [[503, 'unavailable'], [403, 'permission_denied']]) {
    await page.route(address, (route) => route.fulfill({ status, contentType: 'application/json', body: JSON.stringify({ error: { code, message: `told ${status}` } }) }))
    await page.goto(`${server.page_url}/r/${request.id}`)
    await page.getByRole('heading', { name: 'This request could not be read' }).waitFor()
    await page.getByRole('alert').filter({ hasText: new RegExp(`told ${status}`, 'i') }).waitFor()
    assert.equal(await page.getByText('Nothing needs you').count(), 0)
    await page.unroute(address)
  }
  await check(page, 'a request that cannot be read')
  await page.getByRole('button', { name: 'To the inbox' }).click()
  await page.getByText('Nothing needs you').waitFor()
})
