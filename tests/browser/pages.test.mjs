// The pages beside the inbox: policy, record, statistics, and what stands around a request.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, afterEach, before, test } from 'node:test'
import { assertClean, closeBrowser, open, pause, Server } from './harness.mjs'
import { check, phone, variants } from './looks.mjs'
import { fillShop, policy } from './shop.mjs'

let server, page, billing, ann, refund
before(async () => {
  server = await new Server().start()
  // Held by default first: what happened before there was a policy is part of the record.
  await server.admin.call('PUT', '/v1/policy', { text: policy })
  ;({ billing, ann, refund } = await fillShop(server))
  page = await open(server, 'admin')
})
afterEach(() => assertClean(page))
after(async () => {
  await closeBrowser()
  await server.stop()
})
const go = (path, window = page) => window.goto(server.page_url + path)

test('H6 the policy page shows the text, its parts and what it extends', async () => {
  await go('/policy')
  await page.getByText('3 rules, 5 gates, 1 test').waitFor()
  const outline = page.getByRole('navigation', { name: 'Parts of the policy' })
  await outline.getByRole('button', { name: 'stolen deny' }).click()
  const line = policy.split('\n').findIndex((text) => text.includes('id: stolen')) + 1
  assert.match(await page.locator(`[data-document="0"] [data-line="${line}"]`).getAttribute('class'), /medium-wash/)
  await page.getByText('What it extends: standard').waitFor()
  await page.getByRole('button', { name: 'Versions' }).click()
  await page.getByText('in force', { exact: true }).waitFor()
})

test('P6 a call is explained with the rules that took part and those that nearly did', async () => {
  await go('/policy?tab=explain')
  await page.getByLabel('The call').fill('{"tool": "refund", "args": {"order": "1", "amount": 700, "currency": "EUR"}}')
  await page.getByRole('button', { name: 'Explain', exact: true }).click()
  const said = page.getByRole('region', { name: 'What policy says' })
  await said.getByText('Waits for people').waitFor()
  await said.getByText('finance looks at large sums').waitFor()
  assert.match(await said.innerText(), /rule large asks people, always/)
  assert.match(await said.innerText(), /rule stolen did not, because args.currency == 'XXX' is false/)
  await page.getByLabel('The call').fill('{"tool": ')
  assert.equal(await page.getByRole('button', { name: 'Explain', exact: true }).isDisabled(), true)
  await page.getByLabel('The call').fill('{"tool": "refund", "arguments": {}}')
  await page.getByRole('button', { name: 'Explain', exact: true }).click()
  await page.getByRole('alert').getByText(/arguments/).waitFor()
  await check(page, 'a call that is none')
})

test('H6 a candidate is tried against the past, the dangerous cases first, and put in force once they were looked at', async () => {
  await go('/policy?tab=backtest')
  const easy = policy.replace('rules:\n', 'rules:\n  - {id: easy, tools: [refund], when: args.amount <= 490, then: allow, auto_risk: high}\n')
  await page.getByLabel('A policy to try').fill(easy)
  await page.getByRole('button', { name: 'Try it against the past' }).click()
  await page.getByText('2 calls that people refused or changed would pass.').waitFor()
  const rows = await page.getByRole('table').locator('tbody tr').allInnerTexts()
  assert.match(rows[0], /Rejected|Approved with changes/)
  assert.match(rows[1], /Rejected|Approved with changes/)
  assert.doesNotMatch(rows[2], /Rejected|Approved with changes/)
  const put = page.getByRole('button', { name: 'Put it in force' })
  assert.equal(await put.isDisabled(), true)
  for (const box of await page.getByLabel(/I have looked at/).all()) await box.check()
  await put.click()
  await page.getByText('This policy judges from now on.').waitFor()
  assert.equal((await server.admin.get('/v1/policy')).rules, 4)
  assert.equal((await refund('1400', 30)).outcome, 'allowed')
  await server.admin.call('PUT', '/v1/policy', { text: policy })
})

test('H6 D8 a candidate does not replace a policy that its author has not seen, nor does the second half of a double click', async () => {
  await go('/policy?tab=backtest')
  await page.getByLabel('A policy to try').fill(`${policy}# mine\n`)
  await page.getByRole('button', { name: 'Try it against the past' }).click()
  const put = page.getByRole('button', { name: 'Put it in force' })
  await put.waitFor()
  const theirs = await server.admin.call('PUT', '/v1/policy', { text: `${policy}# theirs\n` })
  await put.click()
  await page.getByRole('alert').getByText('Another policy was put in force meanwhile: look again at what yours changes.').waitFor()
  await page.getByLabel('What the candidate changes').getByText('− # theirs').waitFor()
  await put.dispatchEvent('click', { detail: 2 })
  await pause(300)
  assert.equal((await server.admin.get('/v1/policy')).version, theirs.version)
  // Whoever has looked may.
  await put.click()
  await page.getByText('This policy judges from now on.').waitFor()
  assert.match((await server.admin.get('/v1/policy')).text, /# mine/)
  await server.admin.call('PUT', '/v1/policy', { text: policy })
})

test('H6 a candidate that is no policy is refused with line and reason', async () => {
  await go('/policy?tab=backtest')
  await page.getByLabel('A policy to try').fill('holdpoint: 1\npolicy: x\nruls: []\n')
  await page.getByRole('button', { name: 'Try it against the past' }).click()
  await page.getByRole('alert').getByText(/ruls/).waitFor()
  await check(page, 'a policy that is none')
  await page.getByRole('button', { name: 'Start over' }).click()
})

test('P8 U1 a suggestion goes into the candidate and saves questions there', async () => {
  await go('/policy?tab=suggest')
  await page.getByText(/it rests on \d+ approvals by people/).first().waitFor()
  await page.getByRole('button', { name: 'Try it with the policy' }).first().click()
  assert.match(await page.getByLabel('A policy to try').inputValue(), /then: require.*\n(?:.*\n)*?\s+- id: suggested-refund/)
  await page.getByRole('button', { name: 'Try it against the past' }).click()
  await page.getByText('questions less').waitFor()
})

test('P6 U4 a request says which rule holds it, as it stands in the policy', async () => {
  const request = await refund('1401', 501)
  await go(`/r/${request.id}`)
  await page.getByText('Why this waits, and who decides').click()
  await page.getByRole('heading', { name: 'The rule' }).waitFor()
  assert.match(await page.getByLabel(/^Lines \d+ to \d+ of the policy$/).innerText(), /id: large, tools: \[refund\], when: args.amount > 500/)
  await page.getByText(/rule large asks people/).waitFor()
})

test('U4 a request shows what its session and its agent asked before', async () => {
  const request = await refund('1402', 24)
  await go(`/r/${request.id}`)
  await page.getByText('Earlier in this session and from this agent').click()
  await page.getByText('Refund 480 EUR for order 1220').first().waitFor()
  await page.getByRole('link', { name: 'All of it' }).first().click()
  await page.getByRole('heading', { name: 'History' }).waitFor()
  await page.waitForURL((url) => url.searchParams.get('session') === 'ticket-8812')
})

test('S3 the record can be looked through, narrowed and taken away', async () => {
  await go('/audit')
  await page.getByText(/\d+ events, all there are/).waitFor()
  await page.getByText('Refund 480 EUR for order 1220').first().waitFor()
  // How it ended is said by what happened from then on, not by what led there.
  await page.getByLabel('Outcome').selectOption('rejected')
  await page.getByText(/^1 event,/).waitFor()
  await page.getByLabel('Event').selectOption('request-settled')
  await page.getByText(/^1 event,/).waitFor()
  await page.waitForURL((url) => url.search === '?outcome=rejected&event=request-settled')
  const take = async (name) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()])
    return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') }
  }
  const lines = await take('Export JSON lines')
  assert.match(lines.name, /^holdpoint-\d{4}-\d{2}-\d{2}-filtered\.jsonl$/)
  const event = JSON.parse(lines.text)
  assert.deepEqual([event.actor, event.request.decision.reason, event.detail.reason], ['ann', 'This order was refunded yesterday.', 'This order was refunded yesterday.'])
  const csv = await take('Export CSV')
  assert.match(csv.text.split('\r\n')[1], /request-settled,ann,[^,]+,[^,]+,req_.*,rejected,ann,This order was refunded yesterday.,Refund 480 EUR for order 1220/)
  await page.getByLabel('Agent').fill('nobody')
  await page.keyboard.press('Enter')
  await page.getByText('Nothing that happened fits').waitFor()
})

test('H6 S3 a day is one of the person who looks, wherever they are', async () => {
  // Where it is another day than in Greenwich, and will be for an hour.
  const timezoneId = new Date().getUTCHours() < 11 ? 'Etc/GMT+12' : 'Pacific/Kiritimati'
  const [today, in_greenwich] = [timezoneId, 'UTC'].map((timeZone) => new Intl.DateTimeFormat('sv-SE', { timeZone }).format(new Date()))
  const window = await open(server, 'admin', { timezoneId })
  const { id } = await billing.act('archive', { id: 7 }, { session: 'a-day' })
  const findsOn = async (day) => {
    await go(`/history?session=a-day&since=${day}&until=${day}`, window)
    const found = window.locator(`a[href="/r/${id}"]`)
    await found.or(window.getByText('Nothing was asked that fits.')).waitFor()
    assert.equal(await window.getByLabel('From').inputValue(), day)
    return (await found.count()) === 1
  }
  assert.deepEqual([await findsOn(today), await findsOn(in_greenwich)], [true, false])
  await go('/audit', window)
  const [download] = await Promise.all([window.waitForEvent('download'), window.getByRole('button', { name: 'Export CSV' }).click()])
  assert.equal(download.suggestedFilename(), `holdpoint-${today}.csv`)
  await assertClean(window)
  await window.context().close()
})

test('S3 a record that breaks off is not taken for all of it', async () => {
  const past = /\/v1\/events\?.*last_event_id/
  await page.route(past, (route) => route.fulfill({ contentType: 'text/event-stream', body: 'retry: 2000\n\n' }))
  await go('/audit')
  await page.getByText('The server did not say that this is everything.').waitFor()
  assert.equal(await page.getByText('all there are').count(), 0)
  await page.unroute(past)
  await page.getByRole('button', { name: 'Read again' }).click()
  await page.getByText(/\d+ events, all there are/).waitFor()
})

test('H6 what agents write stays text on these pages too', async () => {
  const evil = '<img src=x onerror=alert(1)>\u202egnp.exe'
  const made = await billing.act(evil, { note: '</pre><script>alert(1)</script>' }, { session: '"><svg onload=alert(1)>', requirement: { lines: [{ group: '<b>g</b>' }] } })
  await go('/audit')
  await page.getByText('<img src=x onerror=alert(1)>').first().waitFor()
  assert.match(await page.locator('#main').innerText(), /U\+202E/)
  await go('/policy?tab=explain')
  await page.getByLabel('Start from a request').selectOption(made.id)
  await page.getByRole('button', { name: 'Explain', exact: true }).click()
  await page.getByText('What took part').waitFor()
  await go(`/r/${made.id}`)
  await page.getByText('Earlier in this session and from this agent').click()
  await page.getByText('Session "><svg onload=alert(1)>').waitFor()
  await go('/stats')
  await page.getByText('By tool').first().waitFor()
  await server.admin.call('PUT', '/v1/policy', { text: policy.replace('finance looks at large sums', '<script>alert(1)</script>') })
  await go('/policy')
  await page.getByText('<script>alert(1)</script>').first().waitFor()
  await server.admin.call('PUT', '/v1/policy', { text: policy })
  assert.equal(await page.locator('#main img, #main script').count(), 0)
})

test('H6 the groups of people are listed', async () => {
  await go('/people')
  await page.getByText('finance', { exact: true }).first().waitFor()
  assert.match(await page.locator('dl').innerText(), /finance\s+ann/)
})

test('H6 D8 groups that somebody else changed meanwhile are not overwritten', async () => {
  await go('/people')
  const row = page.getByRole('row', { name: /^bob/ }).first()
  const dialog = page.getByRole('dialog')
  await row.getByRole('button', { name: 'Groups' }).click()
  await server.admin.post('/v1/users/bob/groups', { groups: ['legal'] })
  await dialog.getByLabel('Groups, separated by commas').fill('finance')
  await dialog.getByRole('button', { name: 'Set the groups' }).click()
  await dialog.getByRole('alert').getByText('Somebody else changed these groups meanwhile: close this and look again.').waitFor()
  const groupsOfBob = async () => (await server.admin.get('/v1/users')).users.find((user) => user.name === 'bob').groups
  assert.deepEqual(await groupsOfBob(), ['legal'])
  await page.keyboard.press('Escape')
  await row.getByText('legal', { exact: true }).waitFor()
  await row.getByRole('button', { name: 'Groups' }).click()
  assert.equal(await dialog.getByLabel('Groups, separated by commas').inputValue(), 'legal')
  await dialog.getByLabel('Groups, separated by commas').fill('')
  await dialog.getByRole('button', { name: 'Set the groups' }).click()
  await dialog.waitFor({ state: 'detached' })
  assert.deepEqual(await groupsOfBob(), [])
})

test('X1 a double click makes one key', async () => {
  await go('/people')
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'New key' }).click()
  await dialog.getByLabel('Name').fill('twice-bot')
  await dialog.getByRole('button', { name: 'Make the key' }).dblclick()
  await dialog.getByText('It is shown here and never again.').waitFor()
  assert.equal((await server.admin.get('/v1/keys')).keys.filter((key) => key.name === 'twice-bot').length, 1)
  await page.keyboard.press('Escape')
})

test('X1 the second half of a double click does not close what shows a key, once', async () => {
  await go('/people')
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'New key' }).click()
  await dialog.getByLabel('Name').fill('seen-bot')
  await dialog.getByRole('button', { name: 'Make the key' }).click()
  const hint = dialog.getByText('It is shown here and never again.')
  await hint.waitFor()
  const devtools = await page.context().newCDPSession(page)
  const clickBeside = async (clickCount) => {
    for (const type of ['mousePressed', 'mouseReleased']) await devtools.send('Input.dispatchMouseEvent', { type, x: 5, y: 5, button: 'left', clickCount })
  }
  await clickBeside(2)
  await hint.waitFor()
  await clickBeside(1)
  await hint.waitFor({ state: 'detached' })
})

test('H6 every other screen is reached from a phone', async () => {
  const window = await open(server, 'admin', phone)
  await window.getByRole('button', { name: 'More', exact: true }).tap()
  for (const name of ['Statistics', 'Audit', 'People', 'Settings']) await window.getByRole('dialog').getByRole('link', { name }).waitFor()
  await window.getByRole('dialog').getByRole('link', { name: 'Audit' }).tap()
  await window.getByRole('heading', { name: 'Audit' }).waitFor()
  await assertClean(window)
  await window.context().close()
})

for (const [name, options] of variants) {
  test(`H6 axe finds nothing on the pages beside the inbox, ${name}`, { timeout: 180_000 }, async () => {
    const window = await open(server, 'admin', options)
    for (const grant of (await ann.get('/v1/grants')).grants) await ann.post(`/v1/grants/${grant.id}/revoke`)
    const waiting = await refund(`15${name.length}`, 22)
    const granted = await refund(`16${name.length}`, 3)
    await ann.decide(granted, 'approve', { grant: { for_s: 600 } })
    for (const [path, text] of [['/policy', 'What it extends'], ['/policy?tab=explain', 'The call'], ['/policy?tab=suggest', 'it rests on'], ['/policy?tab=versions', 'in force'], ['/audit', 'all there are'], ['/stats', 'By tool']]) {
      await go(path, window)
      await window.getByText(text).first().waitFor()
      await check(window, path)
    }
    await go('/policy?tab=explain', window)
    await window.getByRole('button', { name: 'Explain', exact: true }).click()
    await window.getByText('What took part').waitFor()
    await check(window, '/policy?tab=explain, said')
    await go('/grants', window)
    await window.getByText('given by ann').first().waitFor()
    await window.getByRole('button', { name: /^refund/ }).first().click()
    await window.getByText('The request it was given with').waitFor()
    await check(window, '/grants, open')
    await window.getByRole('button', { name: /^Revoke the grant/ }).first().click()
    await window.getByRole('dialog', { name: 'Revoke this grant?' }).waitFor()
    await check(window, 'revoking', undefined, 'dialog')
    await window.keyboard.press('Escape')
    await go('/policy?tab=backtest', window)
    await window.getByRole('button', { name: 'Try it against the past' }).click()
    await window.getByText('questions less').waitFor()
    await check(window, '/policy?tab=backtest, tried')
    await go(`/r/${waiting.id}`, window)
    await window.getByText('Why this waits, and who decides').click()
    await window.getByText('How it was judged').waitFor()
    await window.getByText('Earlier in this session and from this agent').click()
    await window.getByText('All of it').first().waitFor()
    await check(window, 'a request, opened')
    await window.getByRole('button', { name: 'More decisions' }).click()
    await window.getByRole('button', { name: 'Approve similar for a while' }).click()
    await window.getByText(/would have passed/).waitFor()
    await check(window, 'granting')
    await window.context().close()
  })
}
