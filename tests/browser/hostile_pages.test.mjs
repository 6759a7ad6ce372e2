// The pages beside the inbox, with hostile strings in every field that reaches them: conversations, grants, policy, record,
// and what people and their devices are called.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertClean, closeBrowser, eventually, open, Server } from './harness.mjs'
import { hidden, line, markup, odd, prose } from './hostile_strings.mjs'
import { phone, wrongsOn } from './looks.mjs'
import { Browser } from './push_service.mjs'
import { policy } from './shop.mjs'

const picks = [...markup.filter((_, i) => i % 40 === 1), ...hidden.filter((_, i) => i % 40 === 25).map((one) => one.text), ...odd.filter((_, i) => i % 75 === 7), 'x'.repeat(5000)]
// Several strings to a page: what one of them breaks is found all the same.
const stories = Array.from({ length: Math.ceil(picks.length / 7) }, (_, i) => picks.slice(i * 7, i * 7 + 7))
const session_of = (story) => `s ${line(story[0])}`

let server, agent, ann, page
before(async () => {
  server = await new Server(['--pending-max', '100000']).start()
  await server.admin.call('PUT', '/v1/policy', { text: policy })
  agent = await server.agent('billing-bot')
  ann = await server.person('ann', { groups: ['finance'] })
  for (const story of stories) for (const text of story) await say(text, session_of(story))
  page = await open(server, 'admin')
})
after(async () => {
  await closeBrowser()
  await server.stop()
})

/** The agent and the people say `text` wherever they can. */
async function say(text, session) {
  const words = prose(text).slice(0, 1900)
  const shared = { session, user: line(text), context: { user_prompt: text, current_reasoning: text, task_description: text, conversation_summary: text } }
  const act = (amount, more = {}) => agent.act('refund', { order: text, amount, currency: text }, { ...shared, ...more })
  await ann.decide(await act(5), 'reject', { reason: words })
  await ann.decide(await act(6), 'defer', { guidance: words })
  const changed = await act(7)
  await ann.decide(changed, 'modify', { arguments: { order: text, amount: 1, currency: text }, note: words })
  await agent.post(`/v1/requests/${changed.id}/report`, { success: false, error: words, result: { [text || 'x']: [text] } })
  const asked = await agent.propose({ ...shared, kind: 'input', input: { question: words, type: 'text' } })
  await ann.decide(asked, 'answer', { answer: words })
  await ann.decide(await act(4), 'approve', { grant: { for_s: 600, uses: 1 } })
  await act(3)
  await agent.propose({ ...shared, kind: 'plan', plan: { title: words, steps: [{ action: words, description: text, optional: true }] } })
  await agent.propose({ ...shared, kind: 'input', input: { question: words, type: 'choice', options: [prose(text).slice(0, 900), 'other'] } })
  await agent.propose({ ...shared, kind: 'confirmation', confirmation: { message: words, details: text, confirm_label: line(text), cancel_label: line(text) } })
  await agent.propose({ ...shared, kind: 'response', response: { text: words } })
}

async function inspect(where, window = page) {
  assert.deepEqual(await wrongsOn(window), [], where)
  await assertClean(window)
}
async function visit(path, ready, window = page) {
  await window.goto(server.page_url + path)
  await window.getByText(ready).first().waitFor()
}

for (const [name, options] of [['on a desk', {}], ['on a phone', phone]]) {
  test(`H6 hostile conversations stay text, ${name}`, { timeout: 180_000 }, async () => {
    const window = await open(server, 'ann', options)
    for (const story of stories) {
      await window.goto(`${server.page_url}/chat?${new URLSearchParams({ session: session_of(story) })}`)
      await window.getByText(/decisions needed/).waitFor()
      await inspect(`conversation ${session_of(story)}`, window)
    }
    await window.getByRole('button', { name: 'More…' }).first().click()
    await window.getByRole('dialog', { name: 'Review' }).waitFor()
    await inspect('review', window)
    await window.context().close()
  })

  test(`H6 the record, grants, policy and statistics stay text, ${name}`, { timeout: 180_000 }, async () => {
    const window = await open(server, 'admin', options)
    await visit('/audit', /events, all there are|events/, window)
    await inspect('audit', window)
    await visit(`/audit?${new URLSearchParams({ session: session_of(stories[0]), agent: line(picks[3]), tool: line(picks[8]) })}`, 'Nothing that happened fits', window)
    await inspect('audit, narrowed', window)
    await visit('/grants', 'given by ann', window)
    for (const row of (await window.getByRole('button', { name: /^refund/ }).all()).slice(0, 6)) await row.click()
    await inspect('grants', window)
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

test('H6 a call is explained, and let pass for a while, with hostile values', async () => {
  for (const text of picks.filter((_, i) => i % 3 === 0)) {
    const request = await agent.act('refund', { order: text, amount: 24, currency: `${text}!` }, { session: session_of(stories[0]) })
    await visit(`/r/${request.id}`, 'Exactly what will run')
    await page.getByText('Why this waits, and who decides').click()
    await page.getByText('How it was judged').waitFor()
    await page.getByText('Earlier in this session and from this agent').click()
    await page.getByText('All of it').first().waitFor()
    await page.getByRole('button', { name: 'More decisions' }).click()
    await page.getByRole('button', { name: 'Approve similar for a while' }).click()
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
  const with_rules = (texts) => policy.replace('rules:\n', `rules:\n${texts.map((text, i) => `  - {id: r${i}, tools: [refund], when: args.amount > ${600 + i}, then: require, gate: refunds, because: ${JSON.stringify(prose(text).slice(0, 150))}}  # ${line(text)}\n`).join('')}`)
  const put = (texts) => server.admin.call('PUT', '/v1/policy', { text: with_rules(texts) })
  const taken = []
  // Some the server refuses; those never reach a page.
  for (const text of picks) await put([text]).then(() => taken.push(text), (error) => assert.ok([400, 422].includes(error.status), error.message))
  assert.ok(taken.length >= 5, `${taken.length} texts were taken`)
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

test('H6 hostile names of whoever looks, holds and signs in, and of their devices', async () => {
  const { subscription } = new Browser()
  const signed_in = await server.signedIn('ann')
  for (const text of picks) await signed_in.post('/v1/push/subscriptions', { name: line(text), subscription: subscription(`https://push.example.org/${picks.indexOf(text)}`) }).catch((error) => assert.ok([400, 422].includes(error.status), error.message))
  const names = picks.map((text) => line(text).trim()).filter((name, i) => name.length > 1 && i % 3 === 0)
  const window = await open(server, 'ann')
  await visit('/settings', 'through push.example.org', window)
  await inspect('devices', window)
  let taken = 0
  for (const [i, name] of names.entries()) {
    const person = await server.person(`${name} ${i}`).catch((error) => assert.equal(error.status, 400))
    if (!person) continue
    ++taken
    const request = await agent.act('deploy', { i }, { timeout_s: 600 })
    await person.post(`/v1/requests/${request.id}/presence`, { looking: true })
    await visit(`/r/${request.id}`, 'is looking at this too', window)
    await inspect(`looking ${JSON.stringify(name)}`, window)
    await person.decide(request, 'approve', { undo_s: 30 })
    await visit(`/r/${request.id}`, 'It takes effect in', window)
    await inspect(`holding ${JSON.stringify(name)}`, window)
    await eventually('it is taken back', () => person.post(`/v1/requests/${request.id}/undo`).then(() => true))
    await ann.decide(request, 'reject')
  }
  assert.ok(taken >= 2, `${taken} names were taken`)
  await window.context().close()
})
