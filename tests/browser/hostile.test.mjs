// Whatever an agent writes, anywhere: no script runs, nothing is fetched, nothing stays hidden, the layout holds.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertClean, Client, closeBrowser, open, prefer, rowOf, Server, show } from './harness.mjs'
import { all, hidden, line, markup, odd, prose } from './hostile_strings.mjs'
import { unfold, wrongsOn } from './looks.mjs'

let server, agent, ann, page
const foreign = []
before(async () => {
  server = await new Server(['--pending-max', '100000']).start()
  agent = await server.agent('billing-bot')
  ann = await server.person('ann')
  page = await open(server, 'ann')
  await prefer(page, { grouping: false })
  page.on('request', (request) => {
    if (!request.url().startsWith(server.page_url)) foreign.push(request.url())
  })
})
after(async () => {
  await closeBrowser()
  await server.stop()
})

/** Looks at the whole page as a person's eye and a browser's parser would. */
async function inspect(where, window = page) {
  assert.deepEqual(await wrongsOn(window), [], where)
  assert.deepEqual(foreign, [], `${where}: fetched from elsewhere`)
  await assertClean(window)
}

const chunks = (list, size) => Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size))
const named = (list) => Object.fromEntries(list.map((text, i) => [`v${i}`, text]))

/** By the address, without loading the page again: the name of a row may itself be anything. */
async function visit(request) {
  await page.evaluate((path) => {
    history.pushState(null, '', path)
    dispatchEvent(new PopStateEvent('popstate'))
  }, `/r/${request.id}`)
  await page.locator(`[data-request="${request.id}"]`).waitFor()
}

async function look(request, where) {
  await visit(request)
  await unfold(page)
  await inspect(where)
  await ann.decide(request, 'reject')
}

test(`H6 ${all.length} hostile strings as arguments are inert and visible`, async () => {
  assert.ok(new Set(markup).size >= 200 && new Set(all).size >= 500)
  for (const [i, part] of chunks(all, 55).entries()) {
    const request = await agent.act('tool', named(part))
    await look(request, `arguments ${i}`)
  }
})

test('H6 hostile strings as names of arguments, and deep inside', async () => {
  for (const [i, part] of chunks(all.filter((text) => text.length < 300), 55).entries()) {
    const value = Object.fromEntries(part.map((text) => [text, { [text]: [text, { deep: text }] }]))
    await look(await agent.act('tool', value), `names ${i}`)
  }
})

test('H6 hostile strings in every other field of every kind', async () => {
  const picks = [...markup.filter((_, i) => i % 9 === 0), ...hidden.filter((_, i) => i % 15 === 0).map((one) => one.text), ...odd.filter((_, i) => i % 25 === 0)]
  for (const text of picks) {
    const shared = {
      session: line(text), thread: line(text), task: line(text), user: line(text), metadata: { [line(text)]: text }, suggested: text,
      risk: { level: 'high', factors: [prose(text)], consequences: [prose(text)] },
      context: { user_prompt: text, task_description: text, conversation_summary: text, steps_completed: [text], current_reasoning: text, relevant_history: [{ [line(text)]: text }], other: text },
    }
    const where = JSON.stringify(text.slice(0, 60))
    await look(await agent.propose({ ...shared, action: { tool: line(text), arguments: { x: text }, description: text, expected_outcome: text } }), `action ${where}`)
    await look(await agent.propose({ ...shared, kind: 'plan', plan: { title: prose(text).slice(0, 1900), steps: [{ action: prose(text).slice(0, 1900), description: text, optional: true }] } }), `plan ${where}`)
    await look(await agent.propose({ ...shared, kind: 'input', input: { question: prose(text), type: 'choice', options: [prose(text).slice(0, 900), 'other'], placeholder: prose(text).slice(0, 1900) } }), `input ${where}`)
    await look(await agent.propose({ ...shared, kind: 'confirmation', confirmation: { message: prose(text), details: text, confirm_label: line(text), cancel_label: line(text) } }), `confirmation ${where}`)
    await look(await agent.propose({ ...shared, kind: 'response', response: { text: prose(text), format: 'markdown' } }), `response ${where}`)
  }
  await page.goto(`${server.page_url}/history`)
  await page.getByRole('link', { name: /Rejected/ }).first().waitFor()
  await inspect('history')
  await page.goto(`${server.page_url}/stats`)
  await page.getByRole('heading', { name: 'By tool' }).waitFor()
  await inspect('statistics')
})

test('H6 hostile words of people, and of the agent afterwards, in the story of a request', async () => {
  const picks = [...markup.filter((_, i) => i % 20 === 0), ...hidden.filter((_, i) => i % 30 === 0).map((one) => one.text), ...odd.filter((_, i) => i % 60 === 30)]
  for (const text of picks) {
    const where = JSON.stringify(text.slice(0, 60))
    const words = prose(text).slice(0, 1900)
    const stories = [
      [await agent.act('tool', { x: 1 }), 'reject', { reason: words }],
      [await agent.act('tool', { x: 2 }), 'defer', { guidance: words }],
      [await agent.act('tool', { x: 3 }), 'modify', { arguments: { x: text, [text || 'x']: text }, note: words }],
      [await agent.propose({ kind: 'input', input: { question: 'q', type: 'text' } }), 'answer', { answer: words }],
    ]
    for (const [request, decision, more] of stories) {
      await ann.decide(request, decision, more)
      if (decision === 'modify') await agent.post(`/v1/requests/${request.id}/report`, { success: false, error: words, result: { [text || 'x']: [text] } })
      await visit(request)
      await unfold(page)
      await inspect(`${decision} ${where}`)
    }
  }
})

test('H6 hostile names of people, agents and groups', async () => {
  const admin = await open(server, 'admin')
  const names = [...markup.filter((_, i) => i % 10 === 0), ...hidden.map((one) => one.text), ...odd].map((text) => line(text).trim()).filter((name, i, all) => name && all.indexOf(name) === i)
  const groups = []
  let taken = 0
  for (const name of names.filter((_, i) => i % 4 === 0)) {
    // Some the server refuses (a colon, a slash, a line): those never reach a page.
    const made = await server.admin.post('/v1/users', { name: `${name} ${taken}`, role: 'approver' }).catch((error) => assert.equal(error.status, 400))
    if (!made) continue
    ++taken
    groups.push(name)
    await server.admin.post('/v1/keys', { name: `${name} bot ${taken}`, role: 'agent' }).then(({ key }) => new Client(server.url, key).act('tool', { by: name }))
  }
  assert.ok(taken >= 50, `${taken} names were taken`)
  await server.admin.post(`/v1/users/ann/groups`, { groups: groups.slice(0, 90) })
  for (const [path, text] of [['people', 'New person'], ['', 'waiting'], ['history', 'Waiting'], ['stats', 'By agent'], ['settings', 'Sign out']]) {
    await admin.goto(`${server.page_url}/${path}`)
    await admin.getByText(text).first().waitFor()
    await inspect(`names on /${path}`, admin)
  }
  await admin.context().close()
  await page.goto(`${server.page_url}/settings`)
  await page.getByText('Sign out').waitFor()
  await inspect('my own groups')
  await server.admin.post(`/v1/users/ann/groups`, { groups: [] })
  for (const request of (await ann.get('/v1/requests?state=pending&limit=100')).requests) await ann.decide(request, 'reject')
})

test('H6 what is hidden becomes visible, each by its number', async () => {
  for (const part of chunks(hidden, 40)) {
    const request = await agent.act('tool', named(part.map((one) => one.text)))
    await visit(request)
    const text = await page.getByRole('region', { name: 'What is asked' }).innerText()
    for (const { point } of part) {
      const shown = point >= 0xe0020 && point <= 0xe007e ? `tags “${String.fromCharCode(point - 0xe0000)}”` : `U+${point.toString(16).toUpperCase().padStart(4, '0')}`
      assert.ok(text.includes(shown), `${shown} is printed`)
    }
    await ann.decide(request, 'reject')
  }
})

test('H6 the order of what is shown is the order of what runs', async () => {
  const request = await agent.act('run', { file: `invoice\u202Efdp.exe`, path: `safe\u2066/etc\u2069` })
  await visit(request)
  const boxes = await page.evaluate(() => {
    const value = [...document.querySelectorAll('dd')].find((one) => one.textContent.includes('invoice'))
    const range = document.createRange()
    const walker = document.createTreeWalker(value, NodeFilter.SHOW_TEXT)
    const lefts = []
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (let i = 0; i < node.length; ++i) {
        range.setStart(node, i)
        range.setEnd(node, i + 1)
        lefts.push(range.getBoundingClientRect().left)
      }
    return lefts
  })
  assert.ok(boxes.length > 15)
  assert.deepEqual(boxes, [...boxes].sort((a, b) => a - b), 'every character stands right of the one before it')
  await ann.decide(request, 'reject')
})

test('H6 hostile rows in the list, while searching and in a group', async () => {
  const made = []
  for (const text of [...markup.slice(0, 20), ...hidden.slice(20, 40).map((one) => one.text), ...odd.slice(60, 90)]) made.push(await agent.act(line(text), { x: text }))
  await page.goto(server.page_url)
  await rowOf(page, made[0]).waitFor({ state: 'attached' })
  await inspect('list')
  await page.getByRole('searchbox').fill('script')
  await inspect('search')
  for (const request of made) await ann.decide(request, 'reject')
  await prefer(page, { grouping: true })
  for (const text of markup.slice(20, 40)) await agent.act('same', { x: text, y: `\u202e${text}` })
  await page.goto(server.page_url)
  await page.locator('[id^="row-group"]').click()
  await page.getByRole('table').waitFor()
  await inspect('group')
  await prefer(page, { grouping: false })
})

test('H6 changing hostile arguments keeps every byte that was not changed', async () => {
  const request = await agent.act('tool', { keep: 'a\u202eb\u200b', amount: 1, proto: JSON.parse('{"__proto__":{"x":1}}') })
  await visit(request)
  await page.waitForTimeout(450)
  await page.keyboard.press('m')
  await page.getByLabel('amount').fill('2')
  await inspect('modify')
  await page.getByRole('button', { name: 'Approve with changes' }).click()
  await page.getByText('tool: approved with changes').waitFor()
  const now = await agent.read(request)
  assert.equal(JSON.stringify(now.release.arguments), JSON.stringify({ amount: 2, keep: 'a\u202eb\u200b', proto: JSON.parse('{"__proto__":{"x":1}}') }))
})

test('H6 arguments as large and as deep as the server takes stay readable', async () => {
  // The proposal itself stands two levels above.
  let deep = 'bottom'
  for (let i = 0; i < 27; ++i) deep = { [`level${i}`]: deep }
  const args = { text: 'rm -rf / '.repeat(7000), more: '<b>'.repeat(21_000), list: Array.from({ length: 3000 }, (_, i) => `item ${i} sudo`), deep }
  for (let i = 0; JSON.stringify(args).length < 250 * 1024; ++i) args[`rest${i}`] = 'x '.repeat(2000)
  assert.ok(JSON.stringify(args).length > 240 * 1024)
  const large = await agent.act('large', args)
  await visit(large)
  await page.getByText(/more characters, \d+ marked/).first().waitFor()
  await page.getByText(/more members, [\d,]+ marks/).first().waitFor()
  await inspect('large')
  await page.getByText(/more characters/).first().click()
  await inspect('large, opened')
  await ann.decide(large, 'reject')
})

test('H6 secrets are masked until somebody asks to see them', async () => {
  const request = await agent.act('login', { user: 'ann', password: 'hunter2-hunter2', note: 'use Authorization: Bearer abcdef0123456789' })
  await visit(request)
  const region = page.getByRole('region', { name: 'What is asked' })
  await region.waitFor()
  assert.doesNotMatch(await region.innerText(), /hunter2|abcdef0123456789/)
  await region.getByRole('button', { name: 'show', exact: true }).click()
  assert.match(await region.innerText(), /hunter2-hunter2/)
  await ann.decide(request, 'reject')
})
