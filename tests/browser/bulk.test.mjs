// Several decided at once: what is on the screen, all of it, and nothing else.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { armed, assertClean, closeBrowser, eventually, open, pause, pressToTheEnd, rowOf, setStage, show, startEmpty } from './harness.mjs'
import { check, phone, variants } from './looks.mjs'

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

const pending = async () => (await ann.get('/v1/requests?state=pending&limit=100')).requests.length
const refund = (amount, more = {}) => agent.act('refund', { amount, currency: 'EUR' }, { risk: 'low', ...more })
const group = () => page.locator('[id^="row-group"]')
const openGroup = async (count) => {
  await group().click()
  await page.getByRole('button', { name: `Approve ${count}` }).waitFor()
  await armed(page)
}

/** The second press, once it counts. */
const pressAgain = async (what) => {
  await page.getByText(`${what} will run as shown. Press again.`).waitFor()
  await armed(page)
  await page.keyboard.press('Shift+A')
}

test('U1 similar requests become one row; one veto, the rest approved', async () => {
  const made = []
  for (const amount of [10, 20, 30, 40]) made.push(await agent.act('refund', { amount, currency: 'EUR' }, { risk: 'low' }))
  const row = page.locator('[id^="row-group"]')
  await row.waitFor()
  await row.click()
  await page.getByRole('columnheader', { name: 'amount' }).waitFor()
  await page.getByText('The same in all').waitFor()
  await armed(page)
  await page.keyboard.press('a')
  await pause(200)
  assert.equal(await pending(), 4, 'the key for one request does not decide a group')
  await page.getByRole('button', { name: 'Veto row 3' }).click()
  await page.getByLabel(/Why not that one/).fill('too much')
  await page.getByRole('button', { name: 'Approve 3, reject 1' }).click()
  await page.getByRole('button', { name: 'Yes, approve 3, reject 1' }).click()
  await eventually('all are settled', async () => (await pending()) === 0)
  const outcomes = await Promise.all(made.map((request) => agent.read(request)))
  const vetoed = outcomes.filter((request) => request.outcome === 'rejected')
  assert.equal(vetoed.length, 1)
  assert.equal(vetoed[0].decision.reason, 'too much')
  assert.equal(outcomes.filter((request) => request.outcome === 'approved').length, 3)
})

test('U1 H6 a veto and its reason stay while a row is opened', async () => {
  const made = []
  for (const amount of [10, 20, 30]) made.push(await refund(amount))
  await openGroup(3)
  const of = await page.locator('tbody tr').nth(1).innerText()
  await page.getByRole('button', { name: 'Veto row 2' }).click()
  await page.getByLabel(/Why not that one/).click()
  await page.keyboard.type('too much')
  for (const opened of [1, 2]) {
    await page.getByRole('button', { name: `Open row ${opened}` }).click()
    await page.getByRole('button', { name: 'More decisions' }).waitFor()
    await group().click()
    await page.getByRole('button', { name: 'Approve 2, reject 1' }).waitFor()
  }
  assert.equal(await page.getByLabel(/Why not that one/).inputValue(), 'too much')
  await page.getByRole('button', { name: 'Vetoed row 2' }).waitFor()
  await armed(page)
  await page.keyboard.press('Shift+A')
  await pressAgain('2 requests')
  await eventually('all are settled', async () => (await pending()) === 0)
  for (const { action, outcome, decision } of await Promise.all(made.map((request) => agent.read(request)))) {
    const is_vetoed = of.startsWith(String(action.arguments.amount))
    assert.deepEqual([outcome, decision.reason ?? ''], is_vetoed ? ['rejected', 'too much'] : ['approved', ''])
  }
})

test('U1 D2 each of several that are vetoed is rejected with its own reason, until one is written for all', async () => {
  const kinds = [['refund', 'too much'], ['mail', 'the wrong person']]
  const made = []
  for (const [tool, reason] of kinds) {
    const some = []
    for (const to of ['a', 'b', 'c']) some.push(await agent.act(tool, { to }, { risk: 'low' }))
    made.push(some)
    await page.locator('[id^="row-group"]', { hasText: tool }).click()
    await page.getByText(`3 alike: ${tool}`).waitFor()
    for (let row = 1; row <= 3; ++row) await page.getByRole('button', { name: `Veto row ${row}` }).click()
    await page.getByLabel(/Why not those 3/).fill(reason)
  }
  await page.getByRole('button', { name: 'Group', exact: true }).click()
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  const reject = async (some, write) => {
    for (const request of some) await rowOf(page, request).locator('span').first().click()
    await page.getByRole('button', { name: 'Decide 2 selected' }).click()
    const field = page.getByLabel(/Why not those 2/)
    assert.equal(await field.inputValue(), '')
    await page.getByText('Each keeps the reason that was written for it.').waitFor()
    if (write) await field.fill(write)
    await armed(page)
    await pressToTheEnd(page, 'Reject 2')
    await armed(page)
    await page.getByRole('button', { name: 'Yes, reject 2' }).click()
    await eventually('both are rejected', async () => (await Promise.all(some.map((request) => agent.read(request)))).every((one) => one.outcome === 'rejected'))
    return Promise.all(some.map(async (request) => (await agent.read(request)).decision.reason))
  }
  assert.deepEqual(await reject(made.map((some) => some[0])), ['too much', 'the wrong person'])
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  assert.deepEqual(await reject(made.map((some) => some[1]), 'neither'), ['neither', 'neither'])
  await page.getByRole('button', { name: 'Group', exact: true }).click()
})

test('U1 a veto stands above what is left when the others are gone, with its reason', async () => {
  const made = []
  for (const amount of [10, 20, 30]) made.push(await refund(amount))
  await openGroup(3)
  await page.getByRole('button', { name: 'Veto row 2' }).click()
  await page.getByLabel(/Why not that one/).fill('paid twice')
  const amount = /(\d+)/.exec(await page.locator('tbody tr').nth(1).innerText())[1]
  const left = (await Promise.all(made.map((one) => agent.read(one)))).find((one) => String(one.action.arguments.amount) === amount)
  for (const one of made) if (one.id !== left.id) await bob.decide(one, 'reject')
  await rowOf(page, left).click()
  await page.locator(`[data-request="${left.id}"]`).getByText('You vetoed this among others alike').waitFor()
  await page.getByText('“paid twice”').waitFor()
  await armed(page)
  await page.keyboard.press('r')
  assert.equal(await page.getByRole('textbox', { name: /Why/ }).inputValue(), 'paid twice')
  await page.keyboard.press('Enter')
  await eventually('it is rejected', async () => (await agent.read(left)).decision?.reason === 'paid twice')
})

test('U1 selected requests are decided together; critical and irreversible ones are left out', async () => {
  const plain = await agent.act('one', {})
  const asked = await agent.propose({ kind: 'confirmation', confirmation: { message: 'Publish it?', details: 'On the front page.' } })
  const critical = await agent.act('three', {}, { risk: 'critical' })
  const final = await agent.propose({ action: { tool: 'four', arguments: {}, reversible: false } })
  await page.getByText('4 waiting').waitFor()
  for (const request of [plain, asked, critical, final]) {
    await rowOf(page, request).click()
    await page.keyboard.press(' ')
  }
  await page.keyboard.press('Shift+A')
  await page.getByText('critical: decide it alone').waitFor()
  await page.getByText('cannot be undone: decide it alone').waitFor()
  await armed(page)
  await page.keyboard.press('Shift+A')
  await pressAgain('2 requests')
  await eventually('two are settled', async () => (await pending()) === 2)
  assert.deepEqual([(await agent.read(critical)).state, (await agent.read(final)).state], ['pending', 'pending'])
})

test('U1 D8 whoever wants to look at a request sees it, also while a selection is open', async () => {
  const [one, two, lost] = [await agent.act('one', {}), await agent.act('two', {}), await agent.act('three', {})]
  await page.getByText('3 waiting').waitFor()
  for (const request of [one, two]) {
    await show(page, request)
    await page.keyboard.press(' ')
  }
  await show(page, lost)
  let release
  const is_released = new Promise((resolve) => (release = resolve))
  await page.route('**/v1/requests/*/decision', async (route) => {
    await is_released
    await bob.decide(lost, 'reject')
    await route.continue()
  })
  await page.keyboard.press('a')
  const selection = page.getByText('2 requests selected')
  await page.keyboard.press('Shift+A')
  await selection.waitFor()
  release()
  await page.getByRole('link', { name: 'Look' }).click()
  const shown = page.locator(`[data-request="${lost.id}"]`)
  await shown.waitFor()
  await page.unroute('**/v1/requests/*/decision')
  // A clicked message about the request on which the cursor stands already.
  await page.keyboard.press('Shift+A')
  await selection.waitFor()
  await shown.waitFor({ state: 'detached' })
  await page.evaluate((open) => navigator.serviceWorker.dispatchEvent(new MessageEvent('message', { data: { open } })), `/r/${lost.id}`)
  await shown.waitFor()
})

test('U1 one of several was decided by somebody else: the rest counts, and it says so', async () => {
  const made = []
  for (const amount of [10, 20, 30]) made.push(await agent.act('refund', { amount }, { risk: 'low' }))
  await group().click()
  await page.getByRole('table').waitFor()
  await armed(page)
  await page.route('**/v1/decisions', async (route) => {
    await bob.decide(made[1], 'reject')
    await route.continue()
  })
  await page.getByRole('button', { name: 'Approve 3' }).click()
  await page.getByRole('button', { name: 'Yes, approve 3' }).click()
  await page.getByText(/not your decision\. bob rejected this/).waitFor()
  await page.getByText(/2 requests: approved; they take effect in/).waitFor()
  await page.unroute('**/v1/decisions')
  assert.equal((await agent.read(made[1])).decision.by, 'bob')
})

test('U1 H7 an answer that is lost on the way is asked for again, and what counted is told as decided', async () => {
  await page.route('**/v1/decisions', async (route) => {
    await route.fetch()
    await route.abort()
  })
  for (const amount of [10, 20, 30]) await refund(amount)
  await openGroup(3)
  for (const row of [1, 2, 3]) await page.getByRole('button', { name: `Veto row ${row}` }).click()
  await page.getByRole('button', { name: 'Reject 3' }).click()
  await page.getByRole('button', { name: 'Yes, reject 3' }).click()
  await page.getByText('3 requests decided · nothing else waits').waitFor()
  assert.equal(await page.getByText(/not decided/).count(), 0)
  await page.unroute('**/v1/decisions')
  assert.equal(await pending(), 0)
})

test('U1 D8 what comes after the first press is not approved by the second', async () => {
  for (const amount of [10, 20, 30]) await refund(amount)
  await openGroup(3)
  await page.keyboard.press('Shift+A')
  await page.getByText('3 requests will run as shown. Press again.').waitFor()
  await refund(9999)
  await page.getByText('1 request came meanwhile: look again. Nothing was decided.').waitFor()
  assert.match(await page.getByRole('row', { name: /9999/ }).innerText(), /new/)
  await armed(page)
  await page.keyboard.press('Shift+A')
  assert.equal(await pending(), 4)
  await pressAgain('4 requests')
  await eventually('all are settled', async () => (await pending()) === 0)
})

test('U1 D8 a press in the moment in which another one comes approves nothing', async () => {
  for (const amount of [10, 20, 30]) await refund(amount)
  await openGroup(3)
  await page.keyboard.press('Shift+A')
  await page.getByText('Press again.').waitFor()
  await page.evaluate(() => {
    const press = () => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'A', shiftKey: true, bubbles: true, cancelable: true }))
    const observer = new MutationObserver(() => {
      if (!document.querySelector('table')?.innerText.includes('9999')) return
      observer.disconnect()
      press()
      setTimeout(press, 150)
    })
    observer.observe(document.body, { subtree: true, childList: true, characterData: true })
  })
  await refund(9999)
  await page.getByText('1 request came meanwhile').waitFor()
  await pause(500)
  assert.deepEqual([await pending(), (await ann.get('/v1/requests?state=pending&limit=100')).requests.filter((one) => one.held).length], [4, 0])
})

test('U1 D8 what somebody changes after the first press is left out, and it says so', async () => {
  const made = []
  for (const amount of [10, 20, 30, 40]) made.push(await refund(amount, { requirement: { lines: [{ quorum: 2 }] } }))
  await openGroup(4)
  await page.keyboard.press('Shift+A')
  await page.getByText('Press again.').waitFor()
  await bob.decide(made[1], 'modify', { arguments: { amount: 9999, currency: 'EUR' } })
  await page.getByText('1 request went meanwhile: look again').waitFor()
  // It is decided alone, and so stands alone.
  await rowOf(page, made[1]).waitFor()
  await armed(page)
  await page.keyboard.press('Shift+A')
  await pressAgain('3 requests')
  await eventually('three have my vote', async () => (await Promise.all(made.map((one) => agent.read(one)))).filter((one) => one.votes.some((vote) => vote.by === 'ann')).length === 3)
  assert.deepEqual((await agent.read(made[1])).votes.map((vote) => vote.by), ['bob'])
})

test('U1 H6 what is decided alone is no group, and on a phone too each of several is opened', async () => {
  for (const path of ['/a', '/b', '/c']) await agent.propose({ risk: 'medium', action: { tool: 'delete_file', arguments: { path }, reversible: false } })
  await page.getByText('3 waiting').waitFor()
  assert.equal(await group().count(), 0)
  for (const amount of [10, 20, 30]) await refund(amount)
  const window = await open(server, 'ann', phone)
  await window.locator('[id^="row-group"]').tap()
  await window.getByRole('button', { name: 'Open row 2' }).tap()
  await window.getByRole('button', { name: 'Approve' }).waitFor()
  await window.context().close()
})

test('U1 H6 on a phone the focus goes along into a group or a selection, and back to the list', async () => {
  const window = await open(server, 'ann', phone)
  for (const amount of [10, 20, 30]) await refund(amount)
  const one = await agent.act('one', {}, { risk: 'low' })
  const isOn = (what) => eventually(`the focus is on ${what}`, () => window.evaluate((what) => document.activeElement.closest(what) !== null, what))
  const back = () => window.getByRole('button', { name: 'Inbox' }).tap()
  for (let times = 0; times < 2; ++times) {
    await window.locator('[id^="row-group"]').tap()
    await isOn('article')
    await back()
    await isOn('#requests')
  }
  await rowOf(window, one).tap()
  await isOn('article')
  await back()
  await isOn('#requests')
  await window.getByRole('button', { name: 'Select', exact: true }).tap()
  await rowOf(window, one).tap()
  await window.getByRole('button', { name: 'Decide 1 selected' }).tap()
  await isOn('article')
  await window.goBack()
  await isOn('#requests')
  await assertClean(window)
  await window.context().close()
})

test('U1 H6 on a phone a group that others decide leads to the list, and nothing opens in its place', async () => {
  const window = await open(server, 'ann', phone)
  const some = []
  for (const amount of [10, 20, 30]) some.push(await refund(amount))
  for (const to of ['a', 'b', 'c']) await agent.act('mail', { to }, { risk: 'low' })
  await window.locator('[id^="row-group"]', { hasText: 'refund' }).tap()
  await window.getByText('3 alike: refund').waitFor()
  for (const request of some) await bob.decide(request, 'reject')
  await window.getByText('3 waiting').waitFor()
  await window.locator('[id^="row-group"]', { hasText: 'mail' }).waitFor()
  assert.equal(await window.locator('article').count(), 0)
  await assertClean(window)
  await window.context().close()
})

test('U1 H6 a row stays where it is when a more pressing one comes', async () => {
  for (const amount of [10, 20, 30]) await refund(amount, { timeout_s: 900 })
  await openGroup(3)
  const rows = () => page.locator('tbody tr').evaluateAll((all) => all.map((row) => row.innerText.match(/\d+/)[0]))
  const before = await rows()
  await refund(5, { timeout_s: 100 })
  await page.getByRole('button', { name: 'Veto row 4' }).waitFor()
  assert.deepEqual(await rows(), [...before, '5'])
})

test('U1 D9 what is not shown whole is not decided with others: plans, answers, long values', async () => {
  const made = [
    await agent.propose({ kind: 'plan', plan: { title: 'Tidy up', steps: [{ action: 'delete everything' }] } }),
    await agent.propose({ kind: 'response', response: { text: `${'Dear customer, '.repeat(30)}you owe us 9999.` } }),
    await agent.act('write', { text: `${'x'.repeat(1500)} rm -rf /` }),
  ]
  const seen = await agent.act('move', { from: 'a', to: 'the very last place of all', when: { day: 'Monday', hours: [1, 2, 3] } })
  await rowOf(page, seen).waitFor()
  for (const request of [...made, seen]) {
    await rowOf(page, request).click()
    await page.keyboard.press(' ')
  }
  await page.keyboard.press('Shift+A')
  for (const why of ['a plan is read step by step: decide it alone', 'an answer is read as a whole: decide it alone', 'too long to read beside others: decide it alone']) await page.getByText(why).waitFor()
  // Another tool beside it: no columns, so all its arguments stand in its row.
  const row = await page.getByRole('row', { name: /move/ }).innerText()
  for (const text of ['from', 'the very last place of all', 'Monday', 'hours']) assert.ok(row.includes(text), text)
  await armed(page)
  for (let i = 0; i < 8 && !(await page.getByText('1 request will run as shown').count()); ++i) await page.keyboard.press('Shift+A')
  await pressAgain('1 request')
  await eventually('one is settled', async () => (await pending()) === 3)
  assert.equal((await agent.read(seen)).outcome, 'approved')
})

test('U1 D8 what I decided is not decided again in its seconds, and one of it can be taken back', async () => {
  const made = []
  for (const amount of [10, 20, 30]) made.push(await refund(amount))
  await openGroup(3)
  await page.keyboard.press('Shift+A')
  await page.getByText('3 requests will run as shown. Press again.').waitFor()
  await armed(page)
  await page.keyboard.press('Shift+A')
  await page.getByRole('button', { name: 'Undo row 2' }).waitFor()
  const held = page.getByText(/^approved in \d s/)
  await held.nth(2).waitFor()
  assert.equal(await held.count(), 3)
  assert.equal(await page.getByRole('button', { name: /^Veto/ }).count(), 0)
  await page.getByRole('button', { name: 'Nothing to decide' }).waitFor()
  assert.match(await group().innerText(), /Approving…/)
  const second = /(\d+)/.exec(await page.locator('tbody tr').nth(1).innerText())[1]
  await page.getByRole('button', { name: 'Undo row 2' }).click()
  // The table stays, with this one to decide.
  await page.getByRole('button', { name: 'Approve 1' }).waitFor()
  await eventually('the others take effect', async () => (await pending()) === 1)
  const left = await Promise.all(made.map((one) => agent.read(one)))
  assert.deepEqual(left.filter((one) => one.state === 'pending').map((one) => String(one.action.arguments.amount)), [second])
})

test('U1 of more than can be decided at once the rest stays selected', async () => {
  for (let i = 0; i < 22; ++i) await agent.act(`tool_${i}`, {}, { risk: 'low' })
  await page.getByText('22 waiting').waitFor()
  await page.locator('#requests').focus()
  await page.keyboard.press('Home')
  for (let i = 0; i < 22; ++i) {
    await page.keyboard.press(' ')
    await page.keyboard.press('ArrowDown')
  }
  await page.getByRole('button', { name: 'Decide 22 selected' }).click()
  await page.getByText('These are the first 20 of 22.').waitFor()
  await armed(page)
  await pressToTheEnd(page, 'Approve 20')
  await page.getByRole('button', { name: 'Yes, approve 20' }).click()
  await page.getByRole('button', { name: 'Decide 2 selected' }).waitFor()
  await eventually('twenty are settled', async () => (await pending()) === 2)
  assert.equal(await page.getByRole('button', { name: 'Decide 2 selected' }).count(), 1)
})

test('U1 values that differ are shown to their end, masked where they are secrets', async () => {
  const end = ' and then rm -rf /home'
  for (const i of [1, 2, 3]) await agent.act('run', { command: `${'echo hello; '.repeat(25)}${i}${end}`, password: `hunter2-${i}-hunter2` }, { risk: 'low' })
  await openGroup(3)
  const table = await page.getByRole('table').innerText()
  assert.equal(table.split(end.trim()).length, 4)
  assert.doesNotMatch(table, /hunter2/)
})

test('U1 a long table is read to its end before it can be approved', async () => {
  for (let i = 0; i < 14; ++i) await agent.act('note', { text: `${'word '.repeat(60)}${i}` }, { risk: 'low' })
  await openGroup(14)
  await page.keyboard.press('Shift+A')
  await page.getByText('There is more below. Press again when you have read it.').waitFor()
  for (let i = 0; i < 12 && !(await page.getByText('14 requests will run as shown').count()); ++i) {
    await page.keyboard.press('Shift+A')
    await pause(60)
  }
  await page.getByText('14 requests will run as shown. Press again.').waitFor()
  const [bottom, end] = await page.evaluate(() => [document.querySelector('tbody tr:last-child').getBoundingClientRect().bottom, document.querySelector('article footer').getBoundingClientRect().top])
  assert.ok(bottom <= end + 5, 'the last row is on the screen')
})

test('U1 D9 of more than fit at once the next ones are read as well before they can be approved', { timeout: 120_000 }, async () => {
  for (let i = 0; i < 34; ++i) await agent.act('note', { text: `${'word '.repeat(60)}${i}`, to: i < 20 ? 'us' : 'them' }, { risk: 'low' })
  await openGroup(20)
  await page.getByText('These are the first 20 of 34.').waitFor()
  /** Presses until it asks once more; gives what was on the screen before that, from its upper edge to its lower one. */
  const pressAndRead = async (count) => {
    const edges = new Set()
    await eventually(`${count} were read`, async () => {
      const shown = await page.evaluate(() => {
        const { top, bottom } = document.querySelector('[aria-label="Requests to decide together"]').getBoundingClientRect()
        const same = [...document.querySelectorAll('h2')].find((one) => one.innerText.toLowerCase() === 'the same in all')
        return [...document.querySelectorAll('tbody tr'), ...(same ? [same.nextElementSibling] : [])].flatMap((part) => {
          const place = part.getBoundingClientRect()
          const says = part.innerText.match(/word (\d+)/)?.[1] ?? part.innerText
          return ['top', 'bottom'].filter((edge) => place[edge] >= top - 5 && place[edge] <= bottom + 5).map((edge) => `${edge} ${says}`)
        })
      })
      for (const edge of shown) edges.add(edge)
      if (await page.getByText(`${count} requests will run as shown. Press again.`).count()) return true
      await page.keyboard.press('Shift+A')
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))))
    })
    return [...edges].filter((edge) => edge.startsWith('top ')).map((edge) => edge.slice(4)).filter((says) => edges.has(`bottom ${says}`))
  }
  const numbers = (parts) => parts.filter((part) => /^\d+$/.test(part))
  const first = await pressAndRead(20)
  assert.equal(numbers(first).length, 20)
  await armed(page)
  await page.keyboard.press('Shift+A')
  await eventually('twenty are settled', async () => (await pending()) === 14)
  await page.getByRole('button', { name: 'Approve 14' }).waitFor()
  await armed(page)
  const second = await pressAndRead(14)
  assert.equal(numbers(second).length, 14, 'every one was on the screen')
  assert.equal(new Set([...numbers(first), ...numbers(second)]).size, 34)
  assert.ok(second.some((part) => part.includes('them')), 'and so was what they share')
  await armed(page)
  await page.keyboard.press('Shift+A')
  await eventually('all are settled', async () => (await pending()) === 0)
})

for (const [name, options, columns] of [['a phone', phone, 0], ['a window too narrow for the table', { viewport: { width: 800, height: 700 } }, 12]]) {
  test(`U1 H6 on ${name} nothing of several lies beyond the edge`, async () => {
    for (let i = 0; i < 4; ++i) {
      const more = Object.fromEntries(Array.from({ length: columns }, (_, at) => [`field_${at}`, i * 100 + at]))
      await agent.act('transfer', { from_account: `DE8937040044053201300${i}`, to_account: `GB29NWBK6016133192681${i}`, amount: 100 + i, reference: `invoice number ${i}`, beneficiary: `Customer ${i}`, ...more }, { risk: 'low', user: `user ${i}` })
    }
    const window = await open(server, 'ann', options)
    await window.locator('[id^="row-group"]').click()
    await armed(window)
    const region = window.getByRole('region', { name: 'Requests to decide together' })
    assert.ok(await region.evaluate((box) => box.scrollWidth <= box.clientWidth), 'nothing to scroll to the side')
    for (const text of ['to_account', 'beneficiary', 'For']) assert.equal(await region.locator('li').getByText(text, { exact: true }).count(), 4)
    const rights = await region.locator('dd, button').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right - innerWidth))
    assert.ok(rights.length > 20 && rights.every((right) => right <= 0), 'all of it is within the window')
    await check(window, `cards on ${name}`)
    await window.getByRole('button', { name: 'Veto row 2' }).click()
    await window.getByLabel(/Why not that one/).fill('no')
    await pressToTheEnd(window, 'Approve 3, reject 1')
    await window.getByRole('button', { name: 'Yes, approve 3, reject 1' }).click()
    await eventually('all are settled', async () => (await pending()) === 0)
    await window.context().close()
  })
}

for (const [name, options] of variants) {
  test(`H6 axe finds nothing while several are decided, ${name}`, async () => {
    for (const amount of [10, 20, 30]) await refund(amount)
    const window = await open(server, 'ann', options)
    await window.locator('[id^="row-group"]').click()
    await window.getByRole('button', { name: 'Veto row 2' }).click()
    await check(window, 'several, one vetoed')
    await armed(window)
    await pressToTheEnd(window, 'Approve 2, reject 1')
    await check(window, 'several, asked once more')
    await refund(9999)
    await window.getByText('1 request came meanwhile').waitFor()
    await check(window, 'several, changed meanwhile')
    await window.context().close()
  })
}
