// Pages elsewhere, in the browser of somebody who is signed in: whatever they send, nothing changes and nothing is read.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { closeBrowser, eventually, open, Server } from './harness.mjs'
import { Browser } from './push_service.mjs'

let server, agent, page, request, evil
before(async () => {
  server = await new Server().start()
  agent = await server.agent('billing-bot')
  await server.admin.post('/v1/users', { name: 'eve', role: 'approver', password: 'correct horse battery' })
  page = await open(server, 'admin')
  request = await agent.act('target', { amount: 1 })
  evil = createServer((_, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>elsewhere</title><body>'))
  await new Promise((resolve) => evil.listen(0, '127.0.0.1', resolve))
})
after(async () => {
  evil.close()
  await closeBrowser()
  await server.stop()
})

/** Everything a stranger could want to change, as [method, path, body]. */
const wishes = () => {
  const decision = { decision: 'approve', digest: request.digest }
  return [
    ['POST', `/v1/requests/${request.id}/decision`, decision],
    ['POST', '/v1/decisions', { decisions: [{ id: request.id, ...decision }] }],
    ['POST', `/v1/requests/${request.id}/extend`, { seconds: 60 }],
    ['POST', `/api/approvals/${request.id}/approve`, {}],
    ['POST', `/api/approvals/${request.id}/reject`, {}],
    ['POST', '/api/agent/approve', { approvalId: request.id, approved: true }],
    ['POST', '/v1/keys', { role: 'admin', name: 'mallory' }],
    ['POST', '/v1/users', { role: 'admin', name: 'mallory' }],
    ['POST', '/v1/links', { name: 'admin' }],
    ['POST', '/v1/users/admin/password', { password: 'correct horse battery' }],
    ['PUT', '/v1/policy', { text: 'holdpoint: 1\npolicy: open\ndefaults: {decision: allow}\n' }],
    ['POST', `/v1/requests/${request.id}/snooze`, { until: new Date(Date.now() + 3_600_000).toISOString() }],
    ['POST', `/v1/requests/${request.id}/undo`, {}],
    ['POST', '/v1/push/subscriptions', { name: 'x', subscription: new Browser().subscription('https://push.example.org/x') }],
    ['POST', '/v1/push/decision', { token: 'x', decision: 'approve' }],
    ['DELETE', '/v1/session', undefined],
    // Signed in as somebody else, a person would decide in a stranger's name.
    ['POST', '/v1/session', { name: 'eve', password: 'correct horse battery' }],
  ]
}

/** All that must be as before; who looks at it is nobody's doing but the page's own. */
const state = async () => JSON.stringify([{ ...(await server.admin.get(`/v1/requests/${request.id}`)), viewers: null }, await server.admin.get('/v1/push/subscriptions'), await server.admin.get(`/v1/requests/${request.id}/events`), await server.admin.get('/v1/keys'), await server.admin.get('/v1/users'), await server.admin.get('/v1/policy')])

async function unchanged(before_) {
  assert.equal(await state(), before_)
  assert.equal(await page.evaluate(() => fetch('/v1/session').then((answer) => answer.json()).then((session) => session.name)), 'admin', 'still signed in, as oneself')
}

// `localhost` is another site than 127.0.0.1 to a browser; another port of the same address is the same site, and cookies
// go there: only the Origin and the token stand in the way.
for (const [what, host] of [['another site', 'localhost'], ['another port of the same host', '127.0.0.1']]) {
  const elsewhere = async () => {
    const window = await page.context().newPage()
    await window.goto(`http://${host}:${evil.address().port}/`)
    return window
  }

  test(`X1 scripts of ${what} change nothing, in every mode of fetch`, async () => {
    const before_ = await state()
    const window = await elsewhere()
    const answers = await window.evaluate(async ([url, all]) => {
      const found = []
      for (const [method, path, body] of all)
        for (const init of [
          { headers: { 'Content-Type': 'application/json', 'X-Holdpoint-CSRF': 'guess' }, mode: 'cors' },
          { headers: { 'Content-Type': 'application/json' }, mode: 'cors' },
          { headers: { 'Content-Type': 'text/plain' }, mode: 'cors' },
          { mode: 'no-cors' },
        ])
          if (init.mode === 'cors' || method === 'POST')
            found.push(await fetch(url + path, { method, credentials: 'include', body: body && JSON.stringify(body), ...init }).then((answer) => `${answer.type} ${answer.status}`, () => 'blocked'))
      for (const [method, path, body] of all) if (method === 'POST') found.push(navigator.sendBeacon(url + path, new Blob([JSON.stringify(body)], { type: 'text/plain' })) ? 'sent' : 'not sent')
      return [...new Set(found)].sort()
    }, [server.page_url, wishes()])
    assert.deepEqual(answers, ['blocked', 'opaque 0', 'sent'], 'no answer can be read')
    await unchanged(before_)
    await window.close()
  })

  test(`X1 forms of ${what} change nothing, whatever their encoding`, async () => {
    const before_ = await state()
    const window = await elsewhere()
    let answered = 0
    window.context().on('response', (answer) => (answered += answer.request().method() === 'POST' ? 1 : 0))
    const sent = await window.evaluate(([url, all]) => {
      let count = 0
      for (const [method, path, body] of all)
        for (const encoding of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
          if (method !== 'POST') continue
          const sink = document.body.appendChild(document.createElement('iframe'))
          sink.name = `sink${++count}`
          const form = document.body.appendChild(document.createElement('form'))
          Object.assign(form, { method: 'post', enctype: encoding, action: url + path, target: sink.name })
          const field = form.appendChild(document.createElement('input'))
          // As text/plain, name and value together are the JSON.
          const text = JSON.stringify(body)
          Object.assign(field, encoding === 'text/plain' ? { name: text.slice(0, -1) + ',"x":"', value: '"}' } : { name: 'decision', value: 'approve' })
          form.submit()
        }
      return count
    }, [server.page_url, wishes()])
    await eventually(`all ${sent} forms were answered`, () => answered >= sent)
    await unchanged(before_)
    await window.close()
  })

  test(`X1 images, scripts, styles, links and frames of ${what} neither change nor read anything`, async () => {
    const before_ = await state()
    const window = await elsewhere()
    const seen = await window.evaluate(async ([url, id, all]) => {
      const paths = [...all.map(([, path]) => `${path}?decision=approve`), `/v1/requests/${id}`, '/v1/me', `/r/${id}`, '/']
      const found = []
      for (const [tag, name] of [['img', 'src'], ['script', 'src'], ['link', 'href'], ['video', 'src']])
        for (const path of paths) {
          const element = document.createElement(tag)
          if (tag === 'link') element.rel = 'stylesheet'
          element[name] = url + path
          const end = new Promise((resolve) => {
            element.onerror = () => resolve('error')
            element.onload = element.onloadeddata = () => resolve(`${tag} ${path} loaded`)
          })
          document.body.append(element)
          found.push(await end)
        }
      const frames = []
      for (const path of ['/', `/r/${id}`, '/sign-in', '/v1/me']) {
        const frame = document.body.appendChild(document.createElement('iframe'))
        frame.src = url + path
        await new Promise((resolve) => (frame.onload = resolve))
        frames.push(frame.contentDocument === null)
      }
      const stream = new EventSource(`${url}/v1/events`, { withCredentials: true })
      const streamed = await new Promise((resolve) => {
        stream.onopen = () => resolve('open')
        stream.onerror = () => resolve('refused')
      })
      stream.close()
      return { loaded: [...new Set(found)], frames, streamed }
    }, [server.page_url, request.id, wishes()])
    // A page in a frame could be clicked through a disguise, so none is ever shown in one.
    const shown = await Promise.all(window.frames().slice(1, 4).map((frame) => frame.evaluate(() => document.body?.innerText ?? '').catch(() => '')))
    assert.ok(shown.every((text) => /refused to connect|^$/.test(text)), JSON.stringify(shown))
    assert.deepEqual(seen, { loaded: ['error'], frames: [true, true, true, true], streamed: 'refused' })
    await unchanged(before_)
    await window.close()
  })
}

test('X1 a link from elsewhere opens the request, and opening decides nothing', async () => {
  const before_ = await state()
  const window = await page.context().newPage()
  await window.goto(`http://localhost:${evil.address().port}/`)
  for (const [, path] of wishes()) {
    const popup = window.waitForEvent('popup')
    await window.evaluate((url) => void open(url), server.page_url + path)
    await (await popup).waitForLoadState()
    await (await popup).close()
  }
  await unchanged(before_)
  await window.close()
})
