// What `make run` starts, as a newcomer meets it: the script itself, the demo agent it brings along, and the chat page.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { armed, assertClean, binary, closeBrowser, eventually, freePort, open, root, signIn } from './harness.mjs'

let folder, run, page, url
before(async () => {
  // The script works beside its own folder: here with the binary under test.
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-demo-'))
  for (const name of ['tools', 'build']) mkdirSync(join(folder, name))
  symlinkSync(join(root, 'tools/run'), join(folder, 'tools/run'))
  symlinkSync(join(root, 'examples'), join(folder, 'examples'))
  symlinkSync(binary, join(folder, 'build/holdpoint'))
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  run = spawn('/bin/sh', [join(folder, 'tools/run')], { env: { ...process.env, HOLDPOINT_DATA: join(folder, 'run'), HOLDPOINT_LISTEN: `127.0.0.1:${port}` }, stdio: ['ignore', 'pipe', 'pipe'] })
  process.on('exit', () => run.kill('SIGTERM'))
  let told = ''
  for (const stream of [run.stdout, run.stderr]) stream.on('data', (text) => (told += text))
  const link = await eventually('it prints the link that signs in', () => /http:\/\/\S+\/sign-in#\S+/.exec(told)?.[0] ?? (run.exitCode !== null && assert.fail(told)), 60_000)
  page = await open({ page_url: url }, null)
  await signIn(page, link)
})
afterEach(() => assertClean(page))
after(async () => {
  await closeBrowser()
  const ended = run.exitCode === null && new Promise((resolve) => run.once('exit', resolve))
  run.kill('SIGTERM')
  await ended
  rmSync(folder, { recursive: true, force: true })
})

const talk = () => page.getByRole('region', { name: 'Conversation' })
const card = () => talk().getByLabel('Waits for a decision')
/** Opens the conversation that began with these words, once the agent has begun it. */
const join_in = async (words) => {
  const entry = page.getByRole('region', { name: 'Sessions' }).getByRole('button', { name: words })
  await entry.waitFor({ timeout: 60_000 })
  await entry.click()
  await talk().getByText(words).waitFor()
}

test('H6 H7 the demo agent asks in the chat, is approved there, and says what it did', { timeout: 120_000 }, async () => {
  await page.getByRole('link', { name: 'Chat' }).first().click()
  await join_in('Please publish the post "Spring sale".')
  await card().getByText('Publish the post "spring-sale" so that everyone can see it?').waitFor()
  await armed(page)
  await card().getByRole('button', { name: 'Approve' }).click()
  await talk().getByText('cms_publishPost done').waitFor()
  await talk().getByText('"Spring sale" is on the site now.').waitFor()
  assert.equal(await card().count(), 0)
})

test('H6 D2 it is refused with a reason, proposes something else, and goes on when that is approved', { timeout: 120_000 }, async () => {
  await join_in('Refund order 1234, Ms Winter sent everything back.')
  await card().getByText('Refund 50000 of order 1234?').waitFor()
  await card().getByRole('button', { name: 'Review and decide' }).click()
  const review = page.getByRole('dialog', { name: 'Review' })
  await review.getByText('Exactly what will run').waitFor()
  await armed(page)
  await review.getByRole('button', { name: 'Reject' }).click()
  await page.keyboard.type('Only the postage, please.')
  await review.getByRole('button', { name: 'Reject', exact: true }).click()
  await talk().getByText('Only the postage, please.').waitFor()
  // Its reaction, by itself.
  await talk().getByText('Not in full, then. I would pay back 500 cents for the postage.').waitFor({ timeout: 60_000 })
  await card().getByText('Refund 500 of order 1234?').waitFor()
  await card().getByRole('button', { name: 'Review and decide' }).click()
  await review.getByText('Exactly what will run').waitFor()
  await armed(page)
  await review.getByRole('button', { name: 'Approve' }).click()
  await review.getByRole('button', { name: 'Approve now' }).click()
  await talk().getByText('process_refund done').waitFor({ timeout: 60_000 })
  await talk().getByText('The money is on its way, Ms Winter should know.').waitFor()
})
