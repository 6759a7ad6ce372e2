// With the keyboard alone: every page, dialog, editor and form is reached and used, the focus is always seen, nothing keeps
// it, and it comes back to where it was. No test here touches the mouse.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { armed, assertClean, closeBrowser, eventually, open, prefer, rowOf, Server } from './harness.mjs'
import { atRest } from './looks.mjs'
import { fillShop, policyFile } from './shop.mjs'

let server, billing, ann, refund, page
before(async () => {
  server = await new Server(['--policy', policyFile()]).start()
  ;({ billing, ann, refund } = await fillShop(server))
  await ann.decide(await refund('1230', 15), 'approve', { grant: { for_s: 3600, uses: 5 } })
  await server.admin.post('/v1/users/ann/password', { password: 'correct horse battery' })
  page = await open(server, null)
})
afterEach(() => assertClean(page))
after(async () => {
  await closeBrowser()
  await server.stop()
})

const keys = { press: (name, window = page) => window.keyboard.press(name), type: (text, window = page) => window.keyboard.type(text) }

/** What has the focus, and whether a person sees that it has. */
const focused = (window = page) =>
  window.evaluate(() => {
    const element = document.activeElement
    if (!element || element === document.body) return null
    const label = element.getAttribute('aria-label') ?? (element.labels?.length ? [...element.labels].map((one) => one.innerText).join(' ') : '') ?? ''
    const name = (label || element.innerText || element.getAttribute('placeholder') || element.id || element.tagName).trim().replace(/\s+/g, ' ').slice(0, 80)
    // What is only for screen readers shows its focus on its label.
    const box = element.getBoundingClientRect().width <= 1 ? (element.closest('label') ?? element) : element
    const { outlineStyle, outlineWidth } = getComputedStyle(box)
    const { left, top, right, bottom, width, height } = box.getBoundingClientRect()
    element.dataset.stop ??= String((globalThis.stops = (globalThis.stops ?? 0) + 1))
    return {
      name, stop: element.dataset.stop, tag: element.tagName, is_in_dialog: element.closest('dialog') !== null,
      is_ringed: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
      is_in_view: width > 0 && height > 0 && right > 0 && bottom > 0 && left < innerWidth && top < innerHeight,
    }
  })

/** Tab by Tab until something called `name` has the focus. */
async function tabTo(name, window = page, key = 'Tab') {
  const seen = []
  for (let i = 0; i < 200; ++i) {
    await keys.press(key, window)
    const now = await focused(window)
    if (now && (name instanceof RegExp ? name.test(now.name) : now.name === name)) {
      assert.ok(now.is_ringed && now.is_in_view, `the focus on ${now.name} is seen`)
      return now
    }
    seen.push(now?.name)
  }
  assert.fail(`${name} is not reached; the stops are ${[...new Set(seen)].join(' | ')}`)
}

/** Walks once around; everything that can be used must be a stop, seen while it has the focus. */
async function walk(where, window = page) {
  const stops = []
  for (let i = 0; i < 250; ++i) {
    await keys.press('Tab', window)
    const now = await focused(window)
    // A date has several stops of its own.
    if (now !== null && stops.at(-1)?.stop === now.stop) continue
    if (now === null || stops.some((one) => one.stop === now.stop)) break
    assert.ok(now.is_ringed, `${where}: the focus on ${now.name} is seen`)
    assert.ok(now.is_in_view, `${where}: ${now.name} is in view`)
    stops.push(now)
  }
  const missed = await window.evaluate(() => {
    const usable = 'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, [tabindex="0"]'
    return [...document.querySelectorAll(usable)]
      .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.dataset.stop)
      // Of several radio buttons one is a stop; arrows reach the others.
      .filter((element) => element.type !== 'radio' || ![...document.querySelectorAll(`input[name="${CSS.escape(element.name)}"]`)].some((one) => one.dataset.stop))
      .map((element) => `${element.tagName} ${element.innerText?.slice(0, 40) || element.getAttribute('aria-label') || element.id}`)
  })
  assert.deepEqual(missed, [], `${where}: not reached`)
  assert.ok(stops.length > 3, `${where}: ${stops.length} stops`)
  return stops
}

/** From the top of the page again, as after a reload: the next Tab leads to the first stop. */
const toTheTop = (window = page) =>
  window.evaluate(() => {
    document.body.tabIndex = -1
    document.body.focus()
    document.body.removeAttribute('tabindex')
  })

test('H6 X1 keyboard: signing in', async () => {
  await page.goto(server.page_url)
  await page.getByLabel('Name').waitFor()
  if ((await focused())?.name !== 'Name') await tabTo('Name')
  await keys.type('ann')
  await tabTo('Password')
  await keys.type('correct horse battery')
  await keys.press('Enter')
  await page.getByText('Live', { exact: true }).waitFor()
  await prefer(page, { hold: 'off' })
})

test('H6 keyboard: the first stop leads past the head of the page', async () => {
  for (const path of ['/', '/history', '/chat']) {
    await page.goto(server.page_url + path)
    await page.waitForFunction(() => document.querySelector('main :is(a, button, input)') && !document.querySelector('main > .turning'))
    await toTheTop()
    await keys.press('Tab')
    assert.equal((await focused()).name, 'To the content')
    await keys.press('Enter')
    await eventually(`${path}: the focus is on the content`, () => page.evaluate(() => document.activeElement.closest('main') !== null))
  }
})

test('H6 keyboard: every page is reached, every part of it is a stop, and nothing keeps the focus', { timeout: 240_000 }, async () => {
  const window = await open(server, 'admin')
  await refund('1300', 700)
  await window.goto(server.page_url)
  await window.getByText('waiting').first().waitFor()
  const places = [['Chat', 'Conversation'], ['History', 'Outcome'], ['Grants', 'given by ann'], ['Policy', 'What it extends'], ['Statistics', 'By tool'], ['Audit', 'all there are'], ['People', 'New person'], ['Settings', 'Sign out'], [/^Inbox/, 'waiting']]
  for (const [link, text] of places) {
    await toTheTop(window)
    await tabTo(link, window)
    await keys.press('Enter', window)
    await (text === 'Conversation' ? window.getByRole('region', { name: text }) : window.getByText(text).first()).waitFor()
    await atRest(window)
    await toTheTop(window)
    const there = await walk(String(link), window)
    if (link !== 'Settings') continue
    // And backwards the same way.
    await toTheTop(window)
    const back = []
    for (let i = 0; i < 300 && back.length < there.length; ++i) {
      await keys.press('Shift+Tab', window)
      const now = await focused(window)
      if (now && back[0] !== now.stop) back.unshift(now.stop)
    }
    assert.deepEqual(back, there.map((one) => one.stop))
  }
  await window.goto(`${server.page_url}/policy`)
  for (const [tab, text] of [['Explain a call', 'The call'], ['Try another', 'A policy to try'], ['Suggestions', 'Suggestions'], ['Versions', 'in force']]) {
    await window.getByRole('button', { name: tab }).waitFor()
    await toTheTop(window)
    await tabTo(tab, window)
    await keys.press('Enter', window)
    await window.getByText(text).first().waitFor()
    await atRest(window)
    await toTheTop(window)
    await walk(tab, window)
  }
  await assertClean(window)
  await window.context().close()
})

test('H6 D2 keyboard: a request is chosen with arrows and rejected; Escape leads back to the button', async () => {
  const [first, second] = [await billing.act('first', {}, { risk: 'high' }), await billing.act('second', {}, { risk: 'low' })]
  await page.goto(server.page_url)
  await rowOf(page, second).waitFor()
  await tabTo('Requests that wait')
  await keys.press('Home')
  const chosen = () => page.locator('[role=option][aria-selected=true]').getAttribute('id')
  for (let i = 0; i < 20 && (await chosen()) !== `row-${second.id}`; ++i) await keys.press('ArrowDown')
  await tabTo(/^Reject/)
  await keys.press('Enter')
  await eventually('the words have the focus', async () => /^Why/.test((await focused())?.name ?? ''))
  await keys.press('Escape')
  assert.match((await focused()).name, /^Reject/)
  await keys.press('Enter')
  await keys.type('Not today.')
  await tabTo('Reject')
  await keys.press('Space')
  await eventually('it is rejected', async () => (await billing.read(second)).decision?.reason === 'Not today.')
  assert.equal((await focused()).name, 'Requests that wait')
  await ann.decide(first, 'reject')
})

test('H6 keyboard: the menu of decisions opens, is walked with arrows, closes with Escape and gives the focus back', async () => {
  const request = await billing.act('third', { a: 1 })
  await page.goto(`${server.page_url}/r/${request.id}`)
  await page.getByRole('button', { name: 'More decisions' }).waitFor()
  await tabTo('More decisions')
  await keys.press('Enter')
  await keys.press('ArrowDown')
  assert.match((await focused()).name, /^Modify/)
  await keys.press('ArrowUp')
  assert.match((await focused()).name, /^Abort/)
  await keys.press('Escape')
  assert.equal((await focused()).name, 'More decisions')
  assert.equal(await page.getByRole('button', { name: 'Escalate to others' }).count(), 0)
  for (const [item, inside] of [['Approve with', /^A note/], ['Defer', /What should/], ['Escalate', 'To'], ['Abort', /^Why/], ['Not now', /./]]) {
    await keys.press('Enter')
    for (let i = 0; i < 8 && !(await focused()).name.startsWith(item); ++i) await keys.press('ArrowDown')
    await keys.press('Enter')
    await eventually(`${item} has the focus`, async () => {
      const now = await focused()
      return now && now.name !== 'More decisions' && (inside instanceof RegExp ? inside.test(now.name) : now.name === inside)
    })
    await keys.press('Escape')
    await eventually(`the focus is back after ${item}`, async () => (await focused())?.name === 'More decisions')
  }
  await ann.decide(request, 'reject')
})

test('H6 D3 D9 keyboard: values are changed and a warning is answered', async () => {
  const request = await billing.act('pay', { amount: 240, to: 'Acme' }, { risk: 'high' })
  await page.goto(`${server.page_url}/r/${request.id}`)
  await page.getByRole('button', { name: 'More decisions' }).waitFor()
  await armed(page)
  await keys.press('m')
  await tabTo(/^amount/)
  await keys.press('Control+A')
  await keys.type('24')
  await tabTo(/^Approve with changes/)
  await keys.press('Enter')
  await page.getByText('High risk: look once more').waitFor()
  await tabTo('Back')
  await keys.press('Enter')
  assert.ok(await focused(), 'the focus is somewhere')
  assert.equal(await page.getByLabel('amount').inputValue(), '24', 'the change is still there')
  await tabTo('Edit as JSON')
  await keys.press('Enter')
  await tabTo('Arguments as JSON')
  await keys.press('Control+A')
  await keys.type('{"amount": 23, "to": "Acme"}')
  await tabTo(/^Approve with changes/)
  await armed(page)
  await keys.press('Enter')
  if (await page.getByText('There is more to read').count()) {
    await armed(page)
    await keys.press('Enter')
  }
  await tabTo(/^Approve .*now/)
  await armed(page)
  await keys.press('Enter')
  await eventually('it runs as changed', async () => (await billing.read(request)).release?.arguments.amount === 23)
})

test('H6 Q2 keyboard: a plan is put in another order, a step goes and one comes; the focus follows', async () => {
  const request = await billing.propose({ kind: 'plan', plan: { title: 'Clean up', steps: [{ action: 'list' }, { action: 'delete' }, { action: 'tell' }] } })
  await page.goto(`${server.page_url}/r/${request.id}`)
  await page.getByRole('button', { name: 'More decisions' }).waitFor()
  await armed(page)
  await keys.press('m')
  await tabTo('Move step 1 down')
  await keys.press('Enter')
  assert.equal((await focused()).name, 'Move step 2 down')
  await keys.press('Enter')
  // It is the last now and cannot go further; the focus stays on its row.
  assert.equal((await focused()).name, 'Move step 3 up')
  await tabTo('Remove step 1', page, 'Shift+Tab')
  await keys.press('Enter')
  assert.equal((await focused()).name, 'Step 1')
  await tabTo('Add a step')
  await keys.press('Enter')
  await eventually('the new step has the focus', async () => (await focused())?.name === 'Step 3')
  await keys.type('report')
  await tabTo(/^Approve with changes/)
  await keys.press('Enter')
  await tabTo(/^Approve .*now/)
  await armed(page)
  await keys.press('Enter')
  await eventually('it runs so', async () => (await billing.read(request)).release?.plan.steps.map((step) => step.action).join() === 'tell,list,report')
})

const questions = [
  ['text', { type: 'text' }, async () => (await tabTo('Your answer'), keys.type('twenty')), 'twenty'],
  ['number', { type: 'number' }, async () => (await tabTo('Your answer'), keys.type('24')), 24],
  ['date', { type: 'date' }, async () => (await tabTo('Your answer'), keys.type('07201969')), '1969-07-20'],
  ['choice', { type: 'choice', options: ['EUR', 'USD', 'GBP'] }, async () => (await tabTo('EUR'), keys.press('ArrowDown')), 'USD'],
  ['multi_choice', { type: 'multi_choice', options: ['red', 'green', 'blue'] }, async () => (await tabTo('red'), await keys.press('Space'), await tabTo('blue'), keys.press('Space')), ['red', 'blue']],
  ['file', { type: 'file' }, async () => {
    // Said long before the key: until the browser has heard that somebody takes the dialog, it opens it for nobody.
    const chooser = page.waitForEvent('filechooser')
    await tabTo('Your answer')
    await keys.press('Space')
    await (await chooser).setFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') })
    // It is an answer once it has been read.
    await page.getByText('notes.txt').first().waitFor()
  }, { name: 'notes.txt', media_type: 'text/plain', content_base64: 'aGVsbG8=' }],
]
for (const [name, input, fill, answer] of questions) {
  test(`H6 Q3 keyboard: a question is answered: ${name}`, async () => {
    const request = await billing.propose({ kind: 'input', input: { question: `A ${name}?`, ...input } })
    await page.goto(`${server.page_url}/r/${request.id}`)
    await page.getByRole('button', { name: 'Answer', exact: true }).waitFor()
    await armed(page)
    await fill()
    await tabTo('Answer')
    await keys.press('Enter')
    await eventually('it is answered', async () => (await billing.read(request)).outcome === 'answered')
    assert.deepEqual((await billing.read(request)).decision.answer, answer)
  })
}

test('U1 keyboard: one of several is vetoed, the rest approved', async () => {
  const some = await Promise.all(['a', 'b', 'c'].map((to) => billing.act('remind', { to })))
  await page.goto(server.page_url)
  await page.locator('[id^="row-group"]').waitFor()
  await tabTo('Requests that wait')
  for (let i = 0; i < 20 && !(await page.locator('[id^="row-group"][aria-selected=true]').count()); ++i) await keys.press('ArrowDown')
  await page.getByRole('table').waitFor()
  await armed(page)
  await tabTo(/^Veto row 2/)
  await keys.press('Space')
  await tabTo(/^Approve 2, reject 1/)
  await keys.press('Enter')
  await page.getByText('Press again.').waitFor()
  await armed(page)
  await keys.press('Enter')
  await eventually('two run', async () => (await Promise.all(some.map((one) => billing.read(one)))).map((one) => one.outcome).sort().join() === 'approved,approved,rejected')
})

test('H6 keyboard: dialogs take the focus, keep it while they are open, and give it back', async () => {
  const window = await open(server, 'admin')
  const closes = async (opener) => {
    const inside = await eventually('the dialog has the focus', async () => {
      const now = await focused(window)
      return now?.is_in_dialog && now
    })
    for (let i = 0; i < 12; ++i) {
      await keys.press('Tab', window)
      const now = await focused(window)
      assert.ok(now === null || now.is_in_dialog, `${opener}: the focus left the dialog for ${now?.name}`)
    }
    await keys.press('Escape', window)
    await eventually('it is closed', async () => (await window.locator('dialog[open]').count()) === 0)
    assert.equal((await focused(window))?.name, opener)
    return inside
  }
  await refund('1301', 20, { session: 'by-keys' })
  await window.goto(server.page_url)
  await tabTo('Requests that wait', window)
  await keys.press('?', window)
  await closes('Requests that wait')
  for (const [path, opener] of [['/people', 'New person'], ['/people', 'New key'], ['/grants', /^Revoke the grant/], ['/chat?session=by-keys', 'More…']]) {
    await window.goto(server.page_url + path)
    const { name } = await tabTo(opener, window)
    await keys.press('Enter', window)
    await closes(name)
  }
  await window.goto(`${server.page_url}/people`)
  await tabTo('New person', window)
  await keys.press('Enter', window)
  if ((await focused(window))?.name !== 'Name') await tabTo('Name', window)
  await keys.type('zoe', window)
  await tabTo(/^Make, and get/, window)
  await keys.press('Enter', window)
  await window.getByText(/\/sign-in#/).waitFor()
  await assertClean(window)
  await window.context().close()
})

test('H6 keyboard: a conversation is answered in place, and the focus stays in it', async () => {
  const request = await billing.act('deploy', { to: 'a' }, { session: 'talk', context: { user_prompt: 'Bring it out' } })
  await page.goto(`${server.page_url}/chat?session=talk`)
  await page.getByLabel('Waits for a decision').waitFor()
  await armed(page)
  await tabTo('Approve')
  await keys.press('Enter')
  await eventually('it is approved', async () => (await billing.read(request)).outcome === 'approved')
  await eventually('the focus is in the conversation', async () => (await focused())?.name === 'Conversation')
})

test('H6 keyboard: the keys that the review in a conversation shows do what they say; Escape closes the panel, then the review', async () => {
  const request = await billing.act('deploy', { to: 'b' }, { session: 'review', risk: 'high' })
  await page.goto(`${server.page_url}/chat?session=review`)
  await tabTo('Review and decide')
  await keys.press('Enter')
  const review = page.getByRole('dialog', { name: 'Review' })
  await review.getByRole('button', { name: 'More decisions' }).waitFor()
  await armed(page)
  await keys.press('r')
  await eventually('the words have the focus', async () => /^Why/.test((await focused())?.name ?? ''))
  await keys.type('No')
  await keys.press('Escape')
  assert.equal(await review.getByRole('group', { name: /^Reject/ }).count(), 0)
  await review.getByRole('button', { name: 'More decisions' }).waitFor()
  await tabTo('More decisions')
  await keys.press('Enter')
  await keys.press('Escape')
  assert.equal((await focused()).name, 'More decisions')
  // A key of the page below is none of the dialog's.
  await keys.press('?')
  assert.equal(await page.getByRole('dialog', { name: 'Keys' }).count(), 0)
  await keys.press('a')
  await review.getByText('High risk: look once more').waitFor()
  await armed(page)
  await keys.press('a')
  await eventually('it is approved', async () => (await billing.read(request)).outcome === 'approved')
  const other = await billing.act('deploy', { to: 'c' }, { session: 'review', risk: 'high' })
  await page.getByRole('button', { name: 'Review and decide' }).waitFor()
  await tabTo('Review and decide')
  await keys.press('Enter')
  await review.getByRole('button', { name: 'More decisions' }).waitFor()
  await keys.press('Escape')
  await review.waitFor({ state: 'detached' })
  await ann.decide(other, 'reject')
})

test('H6 keyboard: settings are changed with Space and arrows', async () => {
  await page.goto(`${server.page_url}/settings`)
  await tabTo(/^As the system/)
  await keys.press('ArrowDown')
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light')
  await keys.press('ArrowUp')
  await tabTo(/^Single-key shortcuts/)
  await keys.press('Space')
  assert.equal(await page.getByLabel('Single-key shortcuts').isChecked(), false)
  await keys.press('Space')
})
