// A session as a conversation: the whole loop in one window.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { armed, assertClean, closeBrowser, eventually, open, pause, prefer, setStage } from './harness.mjs'
import { check, variants } from './looks.mjs'

let server, agent, ann, bob, page
before(async () => {
  ;({ server, agent, ann, bob, page } = await setStage('site-bot'))
})
afterEach(() => assertClean(page))
after(async () => {
  await closeBrowser()
  await server.stop()
})

const session = 'clean-up-1'
const context = { user_prompt: 'Clean up the site', current_reasoning: 'I found five pages that nobody links to.' }
const settled = (request, outcome) => eventually(`it is ${outcome}`, async () => (await agent.read(request)).outcome === outcome)
const talk = () => page.getByRole('region', { name: 'Conversation' })

test('H6 H7 the whole loop in one window: asked, approved in place, run, reported', async () => {
  await page.goto(`${server.page_url}/chat`)
  await page.getByText('No conversation yet').waitFor()
  await check(page, 'no conversation')
  const request = await agent.act('delete_pages', { pages: ['test', 'old-landing'] }, { session, context, user: 'ann' })
  await page.goto(`${server.page_url}/chat?session=${session}`)
  await talk().getByText('Clean up the site').waitFor()
  await talk().getByText('I found five pages that nobody links to.').waitFor()
  await page.getByText('1 decision needed').waitFor()
  await armed(page)
  await talk().getByRole('button', { name: 'Approve' }).click()
  await settled(request, 'approved')
  await agent.post(`/v1/requests/${request.id}/report`, { success: true, result: { deleted: 2 } })
  await talk().getByText('deleted').waitFor()
  assert.match(await talk().innerText(), /delete_pages done/)
  assert.equal(await talk().getByText('Clean up the site').count(), 1)
})

test('H6 H7 what came of it stays, also when the answer to the decision comes after it', async () => {
  const request = await agent.act('count_pages', { of: 'the site' }, { session })
  const result = talk().getByText('count_pages done')
  let tell
  const answered = new Promise((resolve) => (tell = resolve))
  await page.route('**/decision', async (route) => {
    const response = await route.fetch()
    await agent.post(`/v1/requests/${request.id}/report`, { success: true, result: { pages: 7 } })
    await result.waitFor()
    await route.fulfill({ response })
    tell()
  })
  await talk().getByLabel('Waits for a decision').waitFor()
  await armed(page)
  await talk().getByRole('button', { name: 'Approve' }).click()
  await answered
  await page.getByText(/count_pages.*: approved/).waitFor()
  await page.waitForTimeout(100)
  assert.equal(await result.count(), 1)
  await page.unroute('**/decision')
})

test('H6 Q3 what the agent asks meanwhile appears by itself and is answered in place', async () => {
  const question = await agent.propose({ kind: 'input', session, input: { question: 'Which page should be the new landing page?', type: 'choice', options: ['Home', 'Shop'] } })
  await talk().getByText('Which page should be the new landing page?').waitFor()
  await talk().getByText('Shop').click()
  await armed(page)
  await talk().getByRole('button', { name: 'Answer' }).click()
  await settled(question, 'answered')
  assert.equal((await agent.read(question)).decision.answer, 'Shop')
})

test('U2 Q3 a press on an optional question in the moment it appears answers nothing', async () => {
  await page.evaluate(() => {
    const observer = new MutationObserver(() => {
      const button = document.querySelector('[aria-label="Waits for a decision"] button.btn-yes')
      if (!button) return
      observer.disconnect()
      button.click()
    })
    observer.observe(document.body, { subtree: true, childList: true })
  })
  const question = await agent.propose({ kind: 'input', session, input: { question: 'Anything else?', required: false } })
  const button = talk().getByLabel('Waits for a decision').getByRole('button', { name: 'Answer' })
  await button.waitFor()
  await armed(page)
  assert.equal((await agent.read(question)).state, 'pending')
  await button.click()
  await settled(question, 'answered')
})

test('H6 Q3 an answer in place that does not fit is told at its field', async () => {
  const question = await agent.propose({ kind: 'input', session, input: { question: 'Which colour?', type: 'choice', options: ['Red', 'Blue'] } })
  const card = talk().getByLabel('Waits for a decision')
  await card.getByText('Which colour?').waitFor()
  await armed(page)
  await card.getByRole('button', { name: 'Answer' }).click()
  await card.getByRole('alert').getByText('An answer is needed.').waitFor()
  assert.ok(await card.getByLabel('Red').evaluate((field) => field === document.activeElement))
  await ann.decide(question, 'reject')
})

test('H6 Q3 half an answer is there again after a look elsewhere, and after it was taken back', async () => {
  await prefer(page, { hold: 'all' })
  const question = await agent.propose({ kind: 'input', session, input: { question: 'What should it be called?', type: 'text' } })
  const card = talk().getByLabel('Waits for a decision')
  const field = card.getByRole('textbox')
  await field.focus()
  await page.keyboard.type('The blue')
  await page.getByRole('link', { name: 'Grants' }).first().click()
  await page.getByRole('heading', { name: 'Grants' }).waitFor()
  await page.goBack()
  await field.waitFor()
  assert.equal(await field.inputValue(), 'The blue')
  await field.focus()
  await page.keyboard.press('End')
  await page.keyboard.type(' lamp')
  await armed(page)
  await card.getByRole('button', { name: 'Answer' }).click()
  await card.getByRole('button', { name: 'Undo' }).click()
  await field.waitFor()
  assert.equal(await field.inputValue(), 'The blue lamp')
  await armed(page)
  await card.getByRole('button', { name: 'Answer' }).click()
  await settled(question, 'answered')
  assert.equal((await agent.read(question)).decision.answer, 'The blue lamp')
  await prefer(page, {})
})

test('H6 D9 what is risky is opened and read first; a rejection says why', async () => {
  const risky = await agent.act('publish_post', { slug: 'black-friday' }, { session, risk: { level: 'high', consequences: ['Everyone can see it.'] } })
  const card = talk().getByLabel('Waits for a decision')
  await card.waitFor()
  assert.equal(await card.getByRole('button', { name: 'Approve' }).count(), 0)
  await card.getByRole('button', { name: 'Review and decide' }).click()
  const review = page.getByRole('dialog', { name: 'Review' })
  await review.getByText('Everyone can see it.').waitFor()
  await armed(page)
  await review.getByRole('button', { name: 'Reject' }).click()
  await review.getByText('This is not needed.').click()
  await review.getByRole('button', { name: 'Reject', exact: true }).click()
  await settled(risky, 'rejected')
  await talk().getByText('This is not needed.').waitFor()
})

test('D8 H6 a decision made elsewhere is told here', async () => {
  const request = await agent.act('archive_post', { slug: 'a' }, { session })
  await talk().getByLabel('Waits for a decision').waitFor()
  await ann.decide(request, 'defer', { guidance: 'Ask the editors first.' })
  await talk().getByText('Ask the editors first.').waitFor()
  assert.equal(await talk().getByLabel('Waits for a decision').count(), 0)
})

test('D8 D9 what somebody changes while it is reviewed is not what I confirm', async () => {
  const request = await agent.act('pay', { amount: 24 }, { session, risk: 'high', requirement: { lines: [{ quorum: 2 }] } })
  await talk().getByRole('button', { name: 'Review and decide' }).click()
  const review = page.getByRole('dialog', { name: 'Review' })
  await review.getByRole('button', { name: 'Approve' }).waitFor()
  await armed(page)
  await review.getByRole('button', { name: 'Approve' }).click()
  await review.getByRole('button', { name: 'Approve now' }).waitFor()
  await bob.decide(request, 'modify', { arguments: { amount: 9999 } })
  await review.getByRole('alert').getByText('bob changed this while you were looking').waitFor()
  assert.equal(await review.getByRole('button', { name: 'Approve now' }).count(), 0)
  await page.keyboard.press('Escape')
  // In the conversation too it says who changed what.
  await talk().getByText('bob changed this while you were looking').waitFor()
  await check(page, 'a card, changed')
  await ann.decide(request, 'reject')
})

test('U2 D8 a press on a card in the moment of its change decides nothing', async () => {
  const request = await agent.act('pay', { amount: 24 }, { session, requirement: { lines: [{ quorum: 2 }] } })
  const card = talk().getByLabel('Waits for a decision')
  await card.getByRole('button', { name: 'Approve' }).waitFor()
  await armed(page)
  await page.evaluate(() => {
    const observer = new MutationObserver(() => {
      const card = document.querySelector('[aria-label="Waits for a decision"]')
      if (!card?.innerText.includes('9999')) return
      observer.disconnect()
      card.querySelector('button.btn-yes').click()
    })
    observer.observe(document.body, { subtree: true, childList: true, characterData: true })
  })
  await bob.decide(request, 'modify', { arguments: { amount: 9999 } })
  await card.getByText('bob changed this while you were looking').waitFor()
  await pause(300)
  assert.deepEqual((await agent.read(request)).votes.map((vote) => vote.by), ['bob'])
  await ann.decide(request, 'reject')
})

test('U2 D8 a press that was aimed at one card decides no other that comes under the pointer', async () => {
  const payOut = (amount) => agent.act('pay_out', { amount, lines: ['a', 'b', 'c', 'd', 'e', 'f'] }, { session })
  const made = [await payOut(1), await payOut(2)]
  await page.goto(`${server.page_url}/chat?session=${session}`)
  const cards = talk().getByLabel('Waits for a decision')
  await cards.nth(1).waitFor()
  await armed(page)
  // What comes in scrolls the conversation by a card. Presses where the button of the first one stood.
  const { x, y } = await cards.first().getByRole('button', { name: 'Approve' }).boundingBox()
  const press = (is_late) =>
    page.evaluate(
      ([x, y, is_late]) =>
        new Promise((resolve) => {
          const observer = new MutationObserver(look)
          function look() {
            const found = document.elementFromPoint(x, y)?.closest('button')
            if (!is_late && document.querySelectorAll('[data-waits]').length < 3) return
            observer.disconnect()
            setTimeout(() => {
              found?.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }))
              resolve(found?.closest('[data-waits]')?.dataset.waits)
            }, 60)
          }
          observer.observe(document.body, { subtree: true, childList: true })
          look()
        }),
      [x + 20, y + 10, is_late],
    )
  const pressed = press(false)
  const third = await payOut(3)
  assert.equal(await pressed, made[1].id)
  await pause(300)
  for (const request of [...made, third]) assert.equal((await agent.read(request)).state, 'pending')
  // Whoever has seen what stands there now means it.
  await armed(page)
  assert.equal(await press(true), made[1].id)
  await settled(made[1], 'approved')
  for (const request of [made[0], third]) await ann.decide(request, 'reject')
})

test('H6 D8 a decision in its seconds can be taken back on its card', async () => {
  await prefer(page, { hold: 'all' })
  const request = await agent.act('rename_page', { to: 'home' }, { session })
  const card = talk().getByLabel('Waits for a decision')
  await card.getByRole('button', { name: 'Approve' }).waitFor()
  await armed(page)
  await card.getByRole('button', { name: 'Approve' }).click()
  await card.getByText(/You approved this. It takes effect in \d s/).waitFor()
  assert.equal(await card.getByRole('button', { name: 'Approve' }).count(), 0)
  await card.getByRole('button', { name: 'Undo' }).click()
  await card.getByRole('button', { name: 'Approve' }).waitFor()
  assert.deepEqual([(await agent.read(request)).state, new URL(page.url()).pathname], ['pending', '/chat'])
  await ann.decide(request, 'reject')
  await prefer(page, {})
})

test('D9 what a card does not show whole is reviewed first', async () => {
  const long = await agent.act('write', { text: `${'x'.repeat(1500)} rm -rf /` }, { session })
  const card = talk().getByLabel('Waits for a decision')
  await card.getByRole('button', { name: 'Review and decide' }).waitFor()
  assert.equal(await card.getByRole('button', { name: 'Approve' }).count(), 0)
  await ann.decide(long, 'reject')
  // A call without a sentence of its own: its headline is cut, its arguments are not.
  const wide = await agent.act('move', Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`place${i}`, `somewhere ${i}`])), { session })
  await card.getByText('place29').waitFor()
  await card.getByText('somewhere 29').waitFor()
  await ann.decide(wide, 'reject')
})

test('Q3 D9 a question that a card does not show whole, or that is risky, is answered in the review', async () => {
  for (const more of [{ input: { question: `${'Some words before it. '.repeat(120)}Shall I?` } }, { input: { question: 'Shall I wipe it?' }, risk: 'critical' }]) {
    const question = await agent.propose({ kind: 'input', session, ...more })
    const card = talk().getByLabel('Waits for a decision')
    await card.getByRole('button', { name: 'Review and answer' }).waitFor()
    assert.equal(await card.getByRole('button', { name: 'Answer', exact: true }).count(), 0)
    await ann.decide(question, 'reject')
    await card.waitFor({ state: 'detached' })
  }
})

test('D8 U2 the conversation that is open stays, whatever begins elsewhere, and so does half an answer', async () => {
  const mine = await agent.propose({ kind: 'input', session: 'the first one', input: { question: 'Why so?', type: 'text' } })
  await page.goto(`${server.page_url}/chat`)
  const field = talk().locator('[data-answer]')
  await field.fill('Because I')
  const place = await talk().getByRole('button', { name: 'Answer' }).boundingBox()
  const other = await agent.act('drop_index', { of: 'orders' }, { session: 'another one', risk: 'low' })
  // The list of sessions is read again every five seconds.
  await page.getByRole('region', { name: 'Sessions' }).getByText('another one').waitFor()
  await armed(page)
  assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'the first one')
  assert.equal(await field.inputValue(), 'Because I')
  // Nor is it gone when an answer does not arrive.
  await page.route('**/decision', (route) => route.fulfill({ status: 422, contentType: 'application/json', body: '{"error":{"code":"invalid_argument","message":"not now"}}' }))
  await page.mouse.click(place.x + 20, place.y + 10)
  await page.getByText(/not decided\. Not now/).waitFor()
  await page.unroute('**/decision')
  assert.equal(await field.inputValue(), 'Because I')
  assert.deepEqual([(await agent.read(mine)).state, (await agent.read(other)).state], ['pending', 'pending'])
  await ann.decide(mine, 'reject')
  await ann.decide(other, 'reject')
  await page.goto(`${server.page_url}/chat?session=${session}`)
})

for (const [name, options] of variants) {
  test(`H6 axe finds nothing in a conversation, ${name}`, async () => {
    const waiting = await agent.act('tidy', { page: name }, { session })
    const window = await open(server, 'ann', options)
    await window.goto(`${server.page_url}/chat?session=${session}`)
    await window.getByLabel('Waits for a decision').waitFor()
    await check(window, 'conversation')
    await window.getByLabel('Waits for a decision').getByRole('button', { name: 'More…' }).click()
    await window.getByRole('dialog', { name: 'Review' }).locator('[data-request]').waitFor()
    await check(window, 'review')
    await window.context().close()
    await ann.decide(waiting, 'reject')
  })
}

test('D3 D9 a change that makes it critical is asked about in the review, which closes when it was taken', async () => {
  const stage = await setStage('site-bot')
  const rule = '{id: huge, tools: [refund], when: args.amount > 1000, then: require, risk: critical}'
  await stage.server.admin.call('PUT', '/v1/policy', { text: `holdpoint: 1\npolicy: growing\ndefaults: {decision: require}\nrules:\n  - ${rule}\n` })
  const request = await stage.agent.act('refund', { amount: 24 }, { session: 'growing' })
  await stage.page.goto(`${stage.server.page_url}/chat?session=growing`)
  await stage.page.getByRole('button', { name: 'More…' }).click()
  const review = stage.page.getByRole('dialog', { name: 'Review' })
  await review.getByRole('button', { name: 'Modify' }).first().click()
  await review.getByLabel('amount', { exact: true }).fill('5000')
  await armed(stage.page)
  await review.getByRole('button', { name: 'Approve with changes', exact: true }).click()
  await armed(stage.page)
  await review.getByRole('button', { name: 'Approve with changes now' }).click()
  const panel = review.getByRole('group', { name: 'Critical: confirm what you release' })
  await panel.getByRole('textbox').fill(await panel.locator('label b').innerText())
  await panel.getByRole('button', { name: 'Approve with changes now' }).click()
  await review.waitFor({ state: 'detached' })
  assert.deepEqual((await stage.agent.read(request)).release.arguments, { amount: 5000 })
  await assertClean(stage.page)
  await stage.page.context().close()
  await stage.server.stop()
})
