// The pages beside the inbox, with hostile strings in every field that reaches them: conversations, grants, policy, record,
// and what people and their devices are called.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { armed, assertClean, closeBrowser, eventually, open, Server } from './harness.mjs'
import { all, chunks, hidden, line, markup, names, notes, pack, people, texts, turn } from './hostile_strings.mjs'
import { unfold, wrongsOn } from './inside.mjs'
import { phone } from './looks.mjs'
import { Browser } from './push_service.mjs'
import { policy } from './shop.mjs'

// Many strings to a page: what one of them breaks is found all the same.
const sessions = ['first', 'second', 'third']

let server, agent, ann, page
before(async () => {
  server = await new Server(['--pending-max', '100000', '--rate-per-key', '0', '--rate-per-address', '0']).start()
  await server.admin.call('PUT', '/v1/policy', { text: policy })
  agent = await server.agent('billing-bot')
  ann = await server.person('ann', { groups: ['finance'] })
  for (const [i, text] of texts.entries()) await say(text, i)
  // The latest, so that a list of the latest hundred has them all.
  for (const name of names) await agent.act('deploy', { to: name }, { session: name, user: name, thread: name, task: name })
  page = await open(server, 'admin')
})
after(async () => {
  await closeBrowser()
  await server.stop()
})

/** The agent and the people say `text` wherever they can. */
async function say(text, i) {
  const shared = { session: turn(sessions, i), user: turn(names, i) }
  const act = (amount, args = {}, more = {}) => agent.act('refund', { order: '1', amount, currency: 'EUR', ...args }, { ...shared, ...more })
  await ann.decide(await act(5, { order: text }, { context: { user_prompt: text, current_reasoning: text } }), 'reject', { reason: text })
  await ann.decide(await act(6), 'defer', { guidance: text })
  const changed = await act(7)
  await ann.decide(changed, 'modify', { arguments: { order: text, amount: 1, currency: 'EUR' }, note: text })
  await agent.post(`/v1/requests/${changed.id}/report`, { success: false, error: text, result: { [turn(names, i)]: [text] } })
  const asked = await agent.propose({ ...shared, kind: 'input', input: { question: text, type: 'text' } })
  await ann.decide(asked, 'answer', { answer: text })
  await ann.decide(await act(4, { currency: text }), 'approve', { grant: { for_s: 600, uses: 1 } })
  await act(3, { order: text })
  await agent.propose({ ...shared, kind: 'plan', plan: { title: text, steps: [{ action: text, description: text, optional: true }] } })
  await agent.propose({ ...shared, kind: 'input', input: { question: 'q', type: 'choice', options: [turn(notes, i), turn(notes, i + texts.length), 'other'] } })
  await agent.propose({ ...shared, kind: 'confirmation', confirmation: { message: text, details: text, confirm_label: turn(names, i), cancel_label: turn(names, i + 1) } })
  await agent.propose({ ...shared, kind: 'response', response: { text } })
}

async function inspect(where, window = page, within = 'body') {
  assert.deepEqual(await wrongsOn(window, within), [], where)
  await assertClean(window)
}
async function visit(path, ready, window = page) {
  await window.goto(server.page_url + path)
  await window.getByText(ready).first().waitFor()
}

for (const [name, options] of [['on a desk', {}], ['on a phone', phone]]) {
  test(`H6 hostile conversations stay text, ${name}`, { timeout: 180_000 }, async () => {
    const window = await open(server, 'ann', options)
    // A phone shows the same in another width: a third of it tells.
    for (const session of sessions.slice(0, options === phone ? 1 : 3)) {
      await window.goto(`${server.page_url}/chat?session=${session}`)
      await window.getByText(/decisions needed/).waitFor()
      await unfold(window)
      await inspect(`conversation ${session}`, window)
    }
    await window.getByRole('button', { name: /More…|Review and decide/ }).first().click()
    await window.getByRole('dialog', { name: 'Review' }).locator('[data-request]').waitFor()
    await inspect('review', window)
    await window.context().close()
  })

  test(`H6 every hostile string as the name of a session, ${name}`, { timeout: 180_000 }, async () => {
    const window = await open(server, 'ann', options)
    await window.goto(`${server.page_url}/chat?${new URLSearchParams({ session: names[0] })}`)
    await window.getByText('1 decision needed').waitFor()
    await inspect('all sessions', window)
    // A phone has them all in one field; beside the desk's list the head shows one at a time.
    for (const session of name === 'on a phone' ? names.slice(0, 3) : names) {
      await move(window, `/chat?${new URLSearchParams({ session })}`)
      await window.getByText('1 decision needed').waitFor()
      // The list beside it stays what it was.
      await inspect(`session ${JSON.stringify(session)}`, window, '#main > div')
    }
    await window.context().close()
  })

  test(`H6 the record, grants, policy and statistics stay text, ${name}`, { timeout: 180_000 }, async () => {
    const window = await open(server, 'admin', options)
    await visit('/audit', /events/, window)
    for (let i = 0; i < 30 && (await window.getByRole('button', { name: /^(?:Show more|Older)$/ }).count()); ++i) {
      await inspect(`audit, ${i}`, window)
      await window.getByRole('button', { name: /^(?:Show more|Older)$/ }).click()
      await window.waitForFunction(() => !document.querySelector('main button:disabled'))
    }
    await inspect('audit', window)
    for (const [path, nothing] of [['audit', 'Nothing that happened fits'], ['history', 'Nothing was asked that fits']]) {
      for (let i = 0; i < names.length; i += 4) {
        const [session, agent, tool, user] = [0, 1, 2, 3].map((at) => turn(names, i + at))
        await move(window, `/${path}?${new URLSearchParams({ session, agent, tool, user })}`)
        await window.getByText(nothing).waitFor()
        await inspect(`${path}, narrowed ${i}`, window, '[role=search]')
      }
    }
    await visit('/grants', 'given by ann', window)
    await inspect('grants', window)
    for (const row of (await window.getByRole('button', { name: /^refund/ }).all()).slice(0, 6)) {
      await row.click()
      await inspect('a grant, opened', window)
    }
    for (const [path, ready] of [['/stats', 'By tool'], ['/history', 'billing-bot'], ['/policy?tab=versions', 'in force'], ['/policy?tab=suggest', 'Suggest']]) {
      await visit(path, ready, window)
      await inspect(path, window)
    }
    await visit('/policy?tab=backtest', 'Try it against the past', window)
    await window.getByLabel('A policy to try').fill(policy.replace('rules:\n', 'rules:\n  - {id: easy, tools: [refund], when: args.amount <= 490, then: allow, auto_risk: high}\n'))
    await window.getByRole('button', { name: 'Try it against the past' }).click()
    await window.getByRole('table').waitFor()
    await inspect('backtest', window)
    await window.context().close()
  })
}

/** Goes to another address without loading the page again. */
async function move(window, path) {
  await window.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)
}

test('H6 a call is explained, and let pass for a while, with hostile values', async () => {
  await visit('/', 'waiting')
  for (const [i, text] of texts.entries()) {
    // Two of them at a time.
    if (i % 2) continue
    const request = await agent.act('refund', { order: text, amount: 24, currency: `${turn(texts, i + 1)}!` }, { session: sessions[0] })
    await move(page, `/r/${request.id}`)
    await page.locator(`[data-request="${request.id}"]`).waitFor()
    await unfold(page)
    await page.getByText('How it was judged').waitFor()
    await page.getByText('All of it').first().waitFor()
    // Whoever has not read to the end is led there by the first press.
    await page.locator('[data-request] [role=region]').first().evaluate((region) => region.scrollTo(0, region.scrollHeight))
    await eventually('the panel is open', async () => {
      await armed(page)
      if (!(await page.locator('[data-panel]').count())) await page.keyboard.press('s')
      return (await page.locator('[data-panel]').count()) > 0
    })
    await page.getByText(/would have passed/).first().waitFor()
    await inspect(`granting ${JSON.stringify(text.slice(0, 60))}`)
  }
  const request = await agent.act('refund', { order: markup[0], amount: 700, currency: hidden.map((one) => one.text).join('') })
  await visit('/policy?tab=explain', 'The call')
  await page.getByLabel('Start from a request').selectOption(request.id)
  await page.getByRole('button', { name: 'Explain', exact: true }).click()
  await page.getByText('What took part').waitFor()
  await inspect('explained')
})

test('H6 a policy whose own words are hostile stays text', async () => {
  const with_rules = (some) => policy.replace('rules:\n', `rules:\n${some.map((text, i) => `  - {id: r${i}, tools: [refund], when: args.amount > ${600 + i}, then: require, gate: refunds, because: ${JSON.stringify(text)}}  # ${line(text)}\n`).join('')}`)
  const put = (some) => server.admin.call('PUT', '/v1/policy', { text: with_rules(some) })
  // Some the server refuses; those never reach a page.
  const takes = (some) => put(some).then(() => true, (error) => (assert.ok([400, 422].includes(error.status), error.message), false))
  const taken = []
  for (const part of chunks(all.map(line), 8)) {
    const whole = pack(part, 150, ' ')
    if (await takes(whole)) taken.push(...whole)
    else for (const text of part) if (await takes([text])) taken.push(text)
  }
  assert.ok(taken.length >= 80, `${taken.length} texts were taken`)
  await put(taken)
  await visit('/policy', 'What it extends')
  await inspect('policy')
  await visit('/policy?tab=explain', 'The call')
  await page.getByLabel('The call').fill('{"tool": "refund", "args": {"order": "1", "amount": 7000, "currency": "EUR"}}')
  await page.getByRole('button', { name: 'Explain', exact: true }).click()
  await page.getByText('What took part').waitFor()
  await inspect('explained by hostile words')
  await server.admin.call('PUT', '/v1/policy', { text: policy })
})

test('H6 hostile names of devices', async () => {
  const { subscription } = new Browser()
  const window = await open(server, 'ann')
  for (const [at, some] of chunks(pack(all.map(line), 95, ' '), 20).entries()) {
    // A sign-in is allowed fewer calls than a key, so each twenty have one of their own. The same devices each time, under other names.
    const signed_in = await server.signedIn('ann')
    await Promise.all(some.map((name, i) => signed_in.post('/v1/push/subscriptions', { name, subscription: subscription(`https://push.example.org/${i}`) })))
    await visit('/settings', 'through push.example.org', window)
    await inspect(`devices ${at}`, window)
  }
  await window.context().close()
})

test('H6 hostile names of whoever looks and holds', { timeout: 180_000 }, async () => {
  // A sign-in is allowed fewer calls than a key, and looking is two of them: they share.
  const windows = [await open(server, 'ann'), await open(server, 'ann')]
  for (const window of windows) await visit('/', 'waiting', window)
  const everybody = []
  for (const part of chunks([...people.entries()], 25)) everybody.push(...(await Promise.all(part.map(([i, name]) => server.person(`${name} ${i}`)))))
  // As many as the page names.
  const groups = chunks(everybody, 3)
  const requests = []
  for (const part of chunks(groups, 100)) {
    const made = await agent.post('/v1/batches', { requests: part.map((_, at) => ({ timeout_s: 600, action: { tool: 'deploy', arguments: { at } }, requirement: { lines: [{ quorum: 5 }] } })) })
    requests.push(...made.requests)
  }
  for (const [at, some] of groups.entries()) {
    const request = requests[at]
    const window = windows[at % 2]
    await Promise.all(some.map((person) => Promise.all([person.post(`/v1/requests/${request.id}/presence`, { looking: true }), person.decide(request, 'approve', { undo_s: 30 })])))
    await move(window, `/r/${request.id}`)
    await window.getByText('looking at this too').waitFor()
    await window.getByText('It takes effect in').nth(some.length - 1).waitFor()
    // The list beside it stays what it was.
    await inspect(`looking and holding ${at}`, window, at ? '[data-request]' : 'body')
  }
  await ann.post('/v1/decisions', { decisions: requests.map(({ id }) => ({ id, decision: 'reject' })) })
  for (const window of windows) await window.context().close()
})
