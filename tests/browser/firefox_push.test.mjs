// The whole way of a message, with nothing of ours in the place of the browser: the server seals it, a push service that
// cannot read it passes it on, Firefox opens it and shows it on the desktop, and a press on its button decides.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { AutoPush } from './firefox/autopush.mjs'
import { Firefox } from './firefox/marionette.mjs'
import { eventually, NamedServer } from './harness.mjs'

let server, agent, service, bus, desktop, firefox
const shown = []

/** A session bus of its own with the notification service on it. */
async function startDesktop() {
  bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [address] = await new Promise((resolve) => bus.stdout.once('data', (data) => resolve(String(data).trim().split('\n'))))
  const environment = { DBUS_SESSION_BUS_ADDRESS: address }
  desktop = spawn('/usr/bin/python3', [fileURLToPath(new URL('firefox/notifications.py', import.meta.url))], { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...environment } })
  const lines = createInterface({ input: desktop.stdout })
  await new Promise((resolve) => lines.on('line', (line) => {
    const told = JSON.parse(line)
    if (told.ready) resolve()
    else shown.push(told)
  }))
  return environment
}
process.on('exit', () => [desktop, bus].forEach((one) => one?.kill('SIGKILL')))

before(async () => {
  service = await new AutoPush().start()
  server = await new NamedServer(['--push-to-loopback']).start()
  agent = await server.agent('billing-bot')
  await server.person('ann')
  firefox = await new Firefox().start({
    'dom.push.connection.enabled': true, 'dom.push.serverURL': `ws://127.0.0.1:${service.port}/`, 'dom.push.testing.allowInsecureServerURL': true, 'permissions.default.desktop-notification': 1,
  }, await startDesktop())
  await firefox.goto(await server.link('ann'))
  await firefox.click('Sign in')
  await firefox.sees('Live')
})
after(async () => {
  await firefox?.stop()
  service.stop()
  await server.stop()
  desktop?.kill('SIGKILL')
  bus?.kill('SIGKILL')
})

const notified = (what, has) => eventually(what, () => shown.find(has))

test('H8 Firefox subscribes, shows what waits, and a press on Approve decides it', { timeout: 120_000 }, async () => {
  await firefox.goto(`${server.page_url}/settings`)
  await firefox.click('Tell me in this browser')
  await firefox.sees('This browser will be told.')
  await firefox.sees('through 127.0.0.1')

  const request = await agent.act('process_refund', { orderId: '1234', amount: 24 }, { risk: 'low' })
  const asked = await notified('the message is on the desktop', (one) => one.summary.includes(request.headline))
  const button = asked.actions.find((_, i) => asked.actions[i + 1] === 'Approve')
  assert.ok(button && asked.actions.includes('Deny'), JSON.stringify(asked.actions))
  desktop.stdin.write(`${JSON.stringify({ press: asked.id, action: button })}\n`)
  await eventually('it is approved', async () => (await agent.read(request)).outcome === 'approved')
  const { decision } = await agent.read(request)
  assert.deepEqual([decision.by, decision.via], ['ann', 'push'])
})

test('H8 high risk comes without buttons that decide; View opens it', { timeout: 60_000 }, async () => {
  await agent.act('deploy', { service: 'checkout' }, { risk: 'high' })
  const asked = await notified('it is on the desktop', (one) => one.body.includes('high risk'))
  assert.ok(!asked.actions.includes('Approve') && !asked.actions.includes('Deny'), JSON.stringify(asked.actions))
  const button = asked.actions.find((_, i) => asked.actions[i + 1] === 'View')
  desktop.stdin.write(`${JSON.stringify({ press: asked.id, action: button })}\n`)
  await firefox.sees('Exactly what will run')
})

test('H8 messages end with the session, and signing in again brings them back', { timeout: 60_000 }, async () => {
  const subscriptions = async () => (await server.admin.get('/v1/push/subscriptions?user=ann')).subscriptions.length
  const [{ id }] = (await server.admin.get('/v1/sessions?user=ann')).sessions
  await server.admin.post(`/v1/sessions/${id}/revoke`)
  assert.equal(await subscriptions(), 0)
  await firefox.goto(await server.link('ann'))
  await firefox.click('Sign in')
  await firefox.sees('Live')
  await eventually('this browser is told again', async () => (await subscriptions()) === 1)
  await firefox.goto(`${server.page_url}/settings`)
  await firefox.sees('through 127.0.0.1')
})

test('H8 Firefox could open every message, and stops being told when it is removed', { timeout: 60_000 }, async () => {
  await eventually('each was opened', () => service.acks.length >= 3 && service.acks.length === service.posted)
  assert.deepEqual(service.acks.filter((code) => code !== 100), [])
  await firefox.click('Remove')
  await firefox.sees('No more messages there.')
  await firefox.sees('Tell me in this browser')
  const posted = service.posted
  await agent.act('process_refund', { orderId: '1235', amount: 1 }, { risk: 'low' })
  const { subscriptions } = await firefox.run("return fetch('/v1/push/subscriptions').then((answer) => answer.json())")
  assert.deepEqual(subscriptions, [])
  assert.equal(service.posted, posted)
})
