// Whatever an agent writes, anywhere: no script runs, nothing is fetched, nothing stays hidden, the layout holds.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { armed, assertClean, Client, closeBrowser, eventually, open, prefer, rowOf, Server, show } from './harness.mjs'
import { all, chunks, hidden, line, markup, masks, names, notes, odd, people, prose, shorts, texts, turn } from './hostile_strings.mjs'
import { inside, lookAtEach, unfold, wrongsOn } from './inside.mjs'
import { compareTexts } from './pixels.mjs'

let server, agent, ann, page
const foreign = []
before(async () => {
  server = await new Server(['--pending-max', '100000', '--rate-per-key', '0', '--rate-per-address', '0']).start()
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
async function inspect(where, window = page, within = 'body') {
  assert.deepEqual(await wrongsOn(window, within), [], where)
  assert.deepEqual(foreign, [], `${where}: fetched from elsewhere`)
  await assertClean(window)
}

const named = (list) => Object.fromEntries(list.map((text, i) => [`v${i}`, text]))

/** By the address, without loading the page again: the name of a row may itself be anything. */
async function visit(request) {
  await page.evaluate((path) => {
    history.pushState(null, '', path)
    dispatchEvent(new PopStateEvent('popstate'))
  }, `/r/${request.id}`)
  await page.locator(`[data-request="${request.id}"]`).waitFor()
}

let bots = 0
/**
 * Looks at all of them, each whole. Nine at a time are of an agent of their own: whichever is open, the other eight stand
 * under what the agent asked before. `settle` ends them before they are looked at, in its own way.
 */
async function lookAtAll(where, proposals, settle = null) {
  for (const [at, part] of chunks(proposals, 9).entries()) {
    const bot = await server.agent(`bot ${++bots}`)
    const { requests } = await bot.post('/v1/batches', { requests: part.map((proposal) => ({ timeout_s: 900, ...proposal })) })
    if (settle) for (const [i, request] of requests.entries()) await settle(request, at * 9 + i, bot)
    for (const [i, { wrongs, earlier }] of (await lookAtEach(page, requests)).entries()) {
      assert.deepEqual(wrongs, [], `${where} ${at * 9 + i}`)
      assert.ok(earlier >= part.length - 1, `${where} ${at * 9 + i}: the others are there too (${earlier})`)
    }
    await inspect(where)
    if (!settle) await ann.post('/v1/decisions', { decisions: requests.map(({ id }) => ({ id, decision: 'reject' })) })
  }
}

test(`H6 ${all.length} hostile strings as arguments are inert and visible`, async () => {
  assert.ok(new Set(markup).size >= 200 && new Set(all).size >= 500)
  await lookAtAll('arguments', chunks(all, 55).map((part) => ({ action: { tool: 'tool', arguments: named(part) } })))
})

test('H6 hostile strings as names of arguments, and deep inside', async () => {
  const nested = (part) => Object.fromEntries(part.map((text) => [text, { [text]: [text, { deep: text }] }]))
  await lookAtAll('names', chunks(all.filter((text) => text.length < 300), 55).map((part) => ({ action: { tool: 'tool', arguments: nested(part) } })))
})

/**
 * The fields that all kinds have, filled for the `i`th request. Names are short, so it takes many requests until each field of
 * one line has had every string; those of several lines have had them all long before, and stay empty from then on.
 */
function shared(i) {
  const session = { session: turn(names, i), thread: turn(names, i + 1), task: turn(names, i + 2), user: turn(names, i + 3) }
  if (i >= notes.length) return { ...session, metadata: { [turn(names, i + 4)]: 1 }, context: { relevant_history: [{ [turn(names, i)]: 1 }] } }
  return {
    ...session, metadata: { [turn(names, i + 4)]: turn(notes, i) }, suggested: turn(notes, i + 1),
    risk: { level: 'high', factors: [turn(notes, i)], consequences: [turn(notes, i + 1)] },
    context: { user_prompt: turn(notes, i), task_description: turn(notes, i + 1), conversation_summary: turn(notes, i + 2), steps_completed: [turn(notes, i + 3)], current_reasoning: turn(notes, i + 4), relevant_history: [{ [turn(names, i)]: turn(notes, i + 5) }], other: turn(notes, i + 6) },
  }
}
const twenty = chunks([...new Set(all.map((text) => prose(text).slice(0, 300)))], 20)
const kinds = {
  action: [names.length, (i) => ({ action: { tool: turn(names, i), arguments: { [turn(names, i)]: 1 }, ...(i < texts.length ? { description: turn(texts, i), expected_outcome: turn(texts, i + 1) } : {}) } })],
  confirmation: [Math.ceil(names.length / 2), (i) => ({ kind: 'confirmation', confirmation: { message: texts[i] ?? 'q', details: texts[i] ?? 'd', confirm_label: turn(names, 2 * i), cancel_label: turn(names, 2 * i + 1) } })],
  plan: [twenty.length, (i) => ({ kind: 'plan', plan: { title: turn(texts, i), steps: twenty[i].map((text) => ({ action: text, tool: line(text), description: text, optional: true })) } })],
  input: [twenty.length, (i) => ({ kind: 'input', input: { question: turn(texts, i), type: i % 2 ? 'choice' : 'multi_choice', options: twenty[i] } })],
  response: [texts.length, (i) => ({ kind: 'response', response: { text: turn(texts, i), format: i % 2 ? 'markdown' : 'text' } })],
}
for (const [kind, [count, proposalOf]] of Object.entries(kinds)) {
  test(`H6 every hostile string in every other field: ${kind}`, { timeout: 300_000 }, async () => {
    await lookAtAll(kind, Array.from({ length: count }, (_, i) => ({ ...shared(i), ...proposalOf(i) })))
  })
}

test('H6 every hostile string as the hint of a field', async () => {
  await lookAtAll('placeholder', texts.map((text, i) => ({ kind: 'input', input: { question: 'q', type: i % 2 ? 'text' : 'number', placeholder: text } })))
})

test('H6 what was asked so far is text in the history and in the statistics', async () => {
  await page.goto(`${server.page_url}/history`)
  await page.getByRole('link', { name: /Rejected/ }).first().waitFor()
  for (let i = 0; i < 8 && (await page.getByRole('button', { name: 'Older' }).count()); ++i) {
    const before = await page.locator('#main li').count()
    await page.getByRole('button', { name: 'Older' }).click()
    await page.waitForFunction((old) => document.querySelectorAll('#main li').length > old, before)
  }
  assert.ok((await page.locator('#main li').count()) > 200)
  await inspect('history')
  await page.goto(`${server.page_url}/stats`)
  await page.getByRole('heading', { name: 'By tool' }).waitFor()
  await inspect('statistics')
})

test('H6 hostile words of people, and of the agent afterwards, in the story of a request', async () => {
  const act = { action: { tool: 'tool', arguments: { x: 1 } } }
  const stories = texts.flatMap((words, i) => [
    [act, 'reject', { reason: words }],
    [act, 'defer', { guidance: words }],
    [act, 'modify', { arguments: { x: words, [turn(names, i)]: words }, note: words }, { success: false, error: words, result: { [turn(names, i)]: [words] } }],
    [{ kind: 'input', input: { question: 'q', type: 'text' } }, 'answer', { answer: words }],
  ])
  await lookAtAll('story', stories.map(([proposal]) => proposal), async (request, i, bot) => {
    const [, decision, more, report] = stories[i]
    await ann.decide(request, decision, more)
    if (report) await bot.post(`/v1/requests/${request.id}/report`, report)
  })
})

test('H6 hostile names of people, agents and groups', async () => {
  const admin = await open(server, 'admin')
  const join = async (name, i) => {
    await server.admin.post('/v1/users', { name: `${name} ${i}`, role: 'approver' })
    const { key } = await server.admin.post('/v1/keys', { name: `${name} bot ${i}`, role: 'agent' })
    await new Client(server.url, key).act('tool', { by: name })
  }
  for (const part of chunks([...people.entries()], 25)) await Promise.all(part.map(([i, name]) => join(name, i)))
  // What is refused as the name of a person is refused, and nothing breaks.
  for (const name of ['a/b', 'a:b', 'a,b', 'a?b', 'a#b', 'a%b', 'a\\b', '.', '..', 'two\nlines', 'a\u0000b'])
    await assert.rejects(server.admin.post('/v1/users', { name, role: 'approver' }), { status: 400 }, name)
  await server.admin.post(`/v1/users/ann/groups`, { groups: people.slice(0, 90) })
  for (const [path, text] of [['people', 'New person'], ['', 'waiting'], ['history', 'Waiting'], ['stats', 'By agent'], ['settings', 'Sign out']]) {
    await admin.goto(`${server.page_url}/${path}`)
    await admin.getByText(text).first().waitFor()
    await inspect(`names on /${path}`, admin)
    if (path !== 'people') continue
    await admin.getByRole('row', { name: /^ann / }).getByRole('button', { name: 'Groups' }).click()
    await admin.getByRole('dialog', { name: 'Groups of ann' }).waitFor()
    await inspect('groups of ann', admin, 'dialog')
  }
  await admin.context().close()
  await page.goto(`${server.page_url}/settings`)
  await page.getByText('Sign out').waitFor()
  await inspect('my own groups')
  await server.admin.post(`/v1/users/ann/groups`, { groups: [] })
  await rejectAll()
})

test('H6 hostile names of people and agents in every dialog about them', { timeout: 180_000 }, async () => {
  // The page is drawn anew with each dialog: few people to a page.
  for (const part of chunks(people, 42)) {
    const small = await new Server(['--rate-per-key', '0', '--rate-per-address', '0']).start()
    await Promise.all(part.map((name) => Promise.all([small.admin.post('/v1/users', { name, role: 'approver' }), small.agent(`${name} bot`)])))
    const admin = await open(small, 'admin')
    await admin.goto(`${small.page_url}/people`)
    await admin.getByText('New person').waitFor()
    for (const button of ['Groups', 'Sessions', 'Disable', 'Revoke']) {
      const [seen, wrongs] = await inside(admin, async (tools, button) => {
        const main = await tools.until('the buttons are there', () => tools.find('main:has(td button, li button)'))
        // What is behind the dialog stays as it is.
        main.style.contentVisibility = 'hidden'
        const wrongs = []
        const seen = new Set([''])
        for (const one of [...main.querySelectorAll('button')].filter((one) => one.textContent === button)) {
          // Straight from one to the next.
          one.click()
          const title = await tools.until(`the dialog of ${button}`, () => [tools.textOf('dialog[open]:not(:has(.turning)) h2')].find((title) => !seen.has(title)))
          seen.add(title)
          wrongs.push(...tools.wrongs('dialog'))
        }
        tools.find('dialog').close()
        await tools.until('it is closed', () => !tools.find('dialog'))
        main.style.contentVisibility = ''
        return [seen.size - 1, wrongs]
      }, button)
      assert.deepEqual(wrongs, [], button)
      assert.ok(seen >= part.length, `${seen} times ${button}`)
    }
    await inspect('people', admin)
    await admin.context().close()
    await small.stop()
  }
})

test('H6 hostile words in every panel with which a request is decided', { timeout: 180_000 }, async () => {
  await server.admin.post(`/v1/users/ann/groups`, { groups: people.slice(0, 90) })
  await page.goto(server.page_url)
  // The warning shows four.
  for (const [i, words] of chunks(notes, 4).entries()) {
    const request = await agent.act(turn(names, i), { order: words[0] }, { session: turn(names, i + 7), risk: { level: 'high', factors: words.slice(2), consequences: words.slice(0, 2) } })
    await visit(request)
    // These have no words of the request.
    for (const [key, title] of i ? [] : [['r', 'Reject: it will not run'], ['d', 'Defer: it will not run'], ['e', 'Escalate: somebody else decides'], ['n', 'Not now: put it off']]) {
      await page.keyboard.press(key)
      await page.getByText(title).waitFor()
      if (key === 'e') await page.locator('footer option').nth(90).waitFor({ state: 'attached' })
      await inspect(`${title} ${i}`)
      await page.getByRole('button', { name: 'Back' }).click()
    }
    await page.keyboard.press('w')
    await page.getByLabel('A note with your approval').waitFor()
    await inspect(`note ${i}`)
    await page.keyboard.press('Escape')
    // Once, and once more for what was masked or folded, and for what is below.
    for (let press = 0; press < 3 && !(await page.getByText('High risk: look once more').count()); ++press) {
      await armed(page)
      await page.keyboard.press('a')
    }
    await page.getByText('High risk: look once more').waitFor()
    await inspect(`warning ${i}`)
    await ann.decide(request, 'reject')
  }
  await server.admin.post(`/v1/users/ann/groups`, { groups: [] })
})

test('H6 every hostile string in the fields in which it is changed', { timeout: 180_000 }, async () => {
  const change = async (proposal, label) => {
    const request = await agent.propose(proposal)
    await visit(request)
    await page.keyboard.press('m')
    await page.getByLabel(label).first().waitFor()
    return request
  }
  const packed = [...texts.map((text, i) => [`v${i}`, text]), ...names.map((name) => [name, name])]
  // Up to sixty have a field each.
  for (const [i, part] of chunks(packed, 55).entries()) {
    const request = await change({ action: { tool: 'tool', arguments: Object.fromEntries(part) } }, 'Change what will run')
    await unfold(page)
    await inspect(`fields ${i}`)
    await page.getByRole('button', { name: 'Edit as JSON' }).click()
    const field = page.getByLabel('Arguments as JSON')
    await field.waitFor()
    await unfold(page)
    await inspect(`JSON ${i}`)
    // Every fifth is changed: the list of changes says the same of each.
    await field.fill(JSON.stringify(Object.fromEntries(part.map(([name, text], at) => [name, at % 5 ? text : `${text}.`]))))
    await page.getByText('What changes').waitFor()
    await unfold(page)
    await inspect(`changes ${i}`)
    await ann.decide(request, 'reject')
  }
  for (const [i, part] of chunks(names, 49).entries()) {
    const request = await change({ kind: 'plan', plan: { title: 'p', steps: part.map((name) => ({ action: name, tool: name, description: name, optional: true })) } }, 'Step 1')
    await page.getByLabel('Step 1', { exact: true }).fill(turn(names, i))
    await unfold(page)
    await inspect(`plan ${i}`)
    await ann.decide(request, 'reject')
  }
  const request = await change({ kind: 'response', response: { text: texts.join('\n') } }, 'Change the answer')
  await unfold(page)
  await inspect('answer')
  // Among them is a carriage return, which no field keeps.
  await page.getByRole('button', { name: 'Make them alike' }).click()
  await page.getByLabel('Change the answer').fill(texts.map((text, i) => (i % 5 ? text : `${text}.`)).join('\n'))
  await page.getByText('What changes').waitFor()
  await unfold(page)
  await inspect('a changed answer')
  await ann.decide(request, 'reject')
})

test('H6 every hostile string in what the page tells: aborting, decided, and somebody else was faster', { timeout: 180_000 }, async () => {
  await rejectAll()
  const parties = await Promise.all(people.map(async (name, i) => ({ rival: await server.person(`${name} rival${i}`), bot: await server.agent(`${name} runner${i}`) })))
  for (const [at, part] of chunks([...shorts.entries()], 40).entries()) {
    // A sign-in is allowed so many decisions at once: each forty have one of their own.
    const [name, value] = (await server.signedIn('ann')).proof.Cookie.split(/=(.*)/s)
    await page.context().addCookies([{ name, value, url: server.page_url }])
    await page.goto(server.page_url)
    await page.getByText('Nothing needs you').waitFor()
    const rounds = await Promise.all(part.map(async ([i, text]) => {
      const { rival, bot } = turn(parties, i)
      const { id } = await bot.act(text, { x: 1 }, { session: text })
      // Once everybody was faster, the rest is mine.
      return { id, key: i < parties.length ? rival.key : null, reason: turn(texts, i) }
    }))
    const wrongs = await inside(page, async (tools, rounds) => {
      const wrongs = []
      const before = new Set()
      /** What the page says now and has not said before. */
      const told = async (words) => before.add(await tools.until(words, () => [...document.querySelectorAll('[role=status] .foreign')].map((one) => one.textContent).find((text) => text.includes(words) && !before.has(text))))
      const plain = globalThis.fetch
      for (const { id, key, reason } of rounds) {
        document.body.style.contentVisibility = 'hidden'
        await tools.visit(id)
        tools.press('x')
        await tools.until('the panel', () => tools.textOf('[data-panel]').includes('Abort: the whole run stops'))
        document.body.style.contentVisibility = ''
        wrongs.push(...tools.wrongs('article'))
        document.body.style.contentVisibility = 'hidden'
        await tools.click('[data-panel] button', 'Back')
        if (key) {
          // In the moment between the press and its arrival.
          globalThis.fetch = async (input, init) => {
            if (!String(input).endsWith('/decision')) return plain(input, init)
            globalThis.fetch = plain
            const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
            await plain(input, { method: 'POST', credentials: 'omit', headers, body: JSON.stringify({ decision: 'reject', reason }) })
            return plain(input, init)
          }
        }
        tools.press('r')
        await tools.until('the panel', () => tools.textOf('[data-panel]').includes('Reject: it will not run'))
        tools.press('Enter', tools.find('[data-panel] textarea'))
        await told(key ? 'not your decision' : ': rejected')
        document.body.style.contentVisibility = ''
        wrongs.push(...tools.wrongs('[role=status], article'))
        tools.find('[aria-label=Dismiss]')?.click()
      }
      return wrongs
    }, rounds)
    assert.deepEqual(wrongs, [], `told ${at}`)
    // Nothing waits: the page shows how the last three ended.
    await page.goto(server.page_url)
    await page.getByText('Nothing needs you').waitFor()
    await page.locator('main li, #main li').nth(2).waitFor()
    await inspect(`empty ${at}`)
  }
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

// What must be seen of a text in which characters hide: the plain ones as they are, the others by their number. Written here
// once more, without the page's own code, from the numbers alone.
const is_unseen = new Set([...hidden.map((one) => one.point), 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f])
const isTag = (point) => point >= 0xe0020 && point <= 0xe007e
function mustBeSeen(text) {
  const parts = []
  for (const character of text) {
    const point = character.codePointAt(0)
    const last = parts.at(-1)
    if (!is_unseen.has(point) && !isTag(point)) typeof last === 'string' ? parts.splice(-1, 1, last + character) : parts.push(character)
    else if (isTag(point)) last?.tags === undefined ? parts.push({ tags: String.fromCharCode(point - 0xe0000) }) : (last.tags += String.fromCharCode(point - 0xe0000))
    else last?.point === point ? ++last.count : parts.push({ point, count: 1 })
  }
  return parts.map((part) => {
    if (typeof part === 'string') return part
    if (part.tags !== undefined) return { mark: `tags “${part.tags}”` }
    return { mark: `U+${part.point.toString(16).toUpperCase().padStart(4, '0')}${part.count > 1 ? ` ×${part.count}` : ''}` }
  })
}

test('H6 what is hidden is on the screen: pictures of the page against pictures of the expected text', async () => {
  const tricks = [
    ...hidden.map((one) => one.text),
    ...odd.filter((text) => /[\u200b-\u200f\u202e\u2066-\u2069\u{e0020}-\u{e007e}]/u.test(text) && !/\p{Extended_Pictographic}/u.test(text) && text.length < 60),
    'invoice\u202efdp.exe', 'safe\u2066/etc\u2069', '\u202eneddih', 'a\u200b\u200cb\u200d\u200dc', 'end\u200b',
  ]
  assert.ok(tricks.length > 200, `${tricks.length} tricks`)
  await page.setViewportSize({ width: 1360, height: 2300 })
  const field = (where, nth, text) => ({ where, nth, text, expected: mustBeSeen(text), raw: [text] })
  const compare = async (request, fields) => {
    await visit(request)
    await page.evaluate(() => document.fonts.ready)
    await page.waitForFunction(() => !document.querySelector('article .invisible'))
    const { wrong, unmarked } = await compareTexts(page, fields)
    for (const [i, { where, text }] of fields.entries()) {
      assert.equal(wrong[i], 0, `${where}: ${JSON.stringify(text)} looks like its expected text`)
      assert.ok(unmarked[i] > 60, `${where}: ${JSON.stringify(text)} looks different where nothing is marked (${unmarked[i]} pixels)`)
    }
    await ann.decide(request, 'reject')
  }
  for (const part of chunks(tricks, 40)) {
    // Each as name and value of an argument, and all of them in what the agent says and in the headline.
    const together = part.map(line).join(' ')
    const action = await agent.act('tool', Object.fromEntries(part.map((text) => [`${text}:`, text])), { context: { current_reasoning: together } })
    // The page lists arguments in the order of their names.
    const shown = Object.entries(action.action.arguments).flatMap(([name, text], i) => [field('dt bdi', i, name), field('dd bdi', i, text)])
    await compare(action, [...shown, field('section p.foreign bdi', 0, together)])
    await compare(await agent.propose({ kind: 'confirmation', confirmation: { message: together } }), [field('h1 bdi', 0, together)])
  }
  await page.setViewportSize({ width: 1360, height: 860 })
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

/** Ends everything that waits, many at a time. */
async function rejectAll() {
  for (;;) {
    const { requests } = await ann.get('/v1/requests?state=pending&limit=100')
    if (requests.length === 0) return
    await ann.post('/v1/decisions', { decisions: requests.map(({ id }) => ({ id, decision: 'reject' })) })
  }
}
const proposeAll = async (requests) => {
  for (const part of chunks(requests, 100)) await agent.post('/v1/batches', { requests: part })
}

test('H6 every hostile string in the rows of the list, and while searching', async () => {
  await rejectAll()
  await proposeAll(all.map((text) => ({ timeout_s: 900, user: line(text), action: { tool: line(text), arguments: { x: text } } })))
  // A tall window: many rows to a look.
  await page.setViewportSize({ width: 1360, height: 2600 })
  await page.goto(server.page_url)
  await page.getByText(`${all.length} waiting`).waitFor()
  const seen = new Set()
  for (let at = 0; seen.size < all.length && at < 200; ++at) {
    for (const id of await page.locator('[role=option]').evaluateAll((rows) => rows.map((row) => row.id))) seen.add(id)
    await inspect(`list, screen ${at}`)
    await page.evaluate(() => {
      const list = document.getElementById('requests')
      list.scrollTop += list.clientHeight
    })
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))))
  }
  assert.equal(seen.size, all.length, 'every row was on the screen')
  await page.getByRole('searchbox').fill('script')
  await inspect('search')
  await page.setViewportSize({ width: 1360, height: 860 })
  await rejectAll()
})

test('H6 every hostile string in the tables of requests that are alike', async () => {
  await prefer(page, { grouping: true })
  for (const [i, part] of chunks(all, 20).entries()) {
    await proposeAll(part.map((text) => ({ timeout_s: 900, user: line(text), action: { tool: turn(names, i), arguments: { x: text, y: `\u202e${text}`, same: line(part[0]) } } })))
  }
  await page.goto(server.page_url)
  const groups = page.locator('[id^="row-group"]')
  await groups.first().waitFor()
  // Told once the list is whole.
  await page.waitForFunction((count) => document.title.startsWith(`(${count}) `), all.length)
  await page.locator('#requests').focus()
  await eventually('the cursor is on the first', async () => {
    await page.keyboard.press('Home')
    return (await page.locator('[role=option][aria-selected=true][aria-posinset="1"]').count()) > 0
  })
  // What is too long for a table, or masked in it, stands alone between the groups.
  const rows = await page.evaluate(() => Number(document.querySelector('[role=option]').getAttribute('aria-setsize')))
  let count = 0
  for (let row = 0; row < rows; ++row) {
    const selected = page.locator('[role=option][aria-selected=true]')
    await eventually('the cursor is there', async () => Number(await selected.getAttribute('aria-posinset')) === row + 1)
    if ((await selected.getAttribute('id')).startsWith('row-group')) {
      await page.getByRole('table').waitFor()
      await unfold(page)
      await inspect(`group ${++count}`)
    }
    await page.keyboard.press('ArrowDown')
  }
  assert.equal(count, chunks(all, 20).length)
  await rejectAll()
  await prefer(page, { grouping: false })
})

test('H6 changing hostile arguments keeps every byte that was not changed', async () => {
  const request = await agent.act('tool', { keep: 'a\u202eb\u200b', amount: 1, proto: JSON.parse('{"__proto__":{"x":1}}') })
  await visit(request)
  await armed(page)
  await page.keyboard.press('m')
  await page.getByLabel('amount').fill('2')
  await inspect('modify')
  await page.getByRole('button', { name: 'Approve with changes' }).click()
  await page.getByRole('button', { name: 'Approve with changes now' }).click()
  await page.getByText('tool: approved with changes').waitFor()
  const now = await agent.read(request)
  assert.equal(JSON.stringify(now.release.arguments), JSON.stringify({ amount: 2, keep: 'a\u202eb\u200b', proto: JSON.parse('{"__proto__":{"x":1}}') }))
})

test('H6 D3 what hides in a value is printed below every field in which it is changed', async () => {
  const trick = 'pay \u202eneddih\u200b to Bob'
  const raw = '{"to": "a\u200bb"}'
  const change = async (request) => {
    await visit(request)
    await armed(page)
    await page.keyboard.press('m')
    await page.getByRole('button', { name: 'Approve with changes' }).waitFor()
  }
  const action = await agent.act('tool', { short: trick, long: `${'x'.repeat(90)}${trick}` })
  await change(action)
  await page.getByLabel('short').waitFor()
  await inspect('values')
  await page.getByRole('button', { name: 'Edit as JSON' }).click()
  assert.match(await page.getByLabel('Arguments as JSON').inputValue(), /\\u202eneddih\\u200b/)
  await page.getByLabel('Arguments as JSON').fill(raw)
  await page.getByRole('img', { name: 'hidden: zero width space' }).first().waitFor()
  await inspect('JSON')
  const plan = await agent.propose({ kind: 'plan', plan: { title: 'p', steps: [{ action: trick }, { action: 'second' }] } })
  await change(plan)
  await page.getByLabel('Step 1', { exact: true }).waitFor()
  await inspect('a plan')
  const response = await agent.propose({ kind: 'response', response: { text: trick } })
  await change(response)
  await page.getByLabel('Change the answer').waitFor()
  await inspect('an answer')
  const input = await agent.propose({ kind: 'input', input: { question: 'q', type: 'text', default: trick } })
  await visit(input)
  await page.getByLabel('Your answer').waitFor()
  await inspect('a suggested answer')
  for (const request of [action, plan, response, input]) await ann.decide(request, 'reject')
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
  // Nor beside what is changed.
  await page.reload()
  await page.locator(`[data-request="${request.id}"]`).waitFor()
  await armed(page)
  await page.keyboard.press('m')
  await page.getByLabel('user').waitFor()
  const values = () => page.evaluate(() => [...document.querySelectorAll('#main input, #main textarea')].map((field) => field.value).join() + document.body.innerText)
  assert.doesNotMatch(await values(), /hunter2/)
  await page.getByLabel('password').click()
  assert.match(await values(), /hunter2-hunter2/)
  await ann.decide(request, 'reject')
})

test('H6 U2 what hides behind a mask is shown before one key approves it', async () => {
  await page.goto(server.page_url)
  const region = page.getByRole('region', { name: 'What is asked' })
  for (const [i, text] of masks.entries()) {
    for (const name of ['command', 'pin']) {
      const request = await agent.act('run', { [name]: text, at: i }, { risk: 'low' })
      await visit(request)
      await armed(page)
      const covered = await region.locator('[data-covered]').count()
      if (covered) {
        assert.match(await region.innerText(), /•••••••• \d+ characters/)
        await page.keyboard.press('a')
        await page.getByText('There is more to read: what was masked is shown now.').waitFor()
        assert.equal((await agent.read(request)).state, 'pending')
        await armed(page)
      }
      // A word no longer than a password may stay masked under the name of one.
      const may_hide = !covered && name === 'pin' && text.length <= 64 && !/[\s;|`$]/.test(text)
      assert.ok(may_hide || (await region.innerText()).replace(/\s+/g, ' ').includes(text.replace(/\s+/g, ' ')), text)
      await page.keyboard.press('a')
      await eventually('it is approved', async () => (await agent.read(request)).outcome === 'approved')
    }
  }
  await inspect('masks')
})
