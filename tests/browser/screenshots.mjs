// Pictures of every screen, light and dark, desk and phone: `node tests/browser/screenshots.mjs [FOLDER]`.
import { mkdirSync } from 'node:fs'
import { closeBrowser, open, pause, Server, show } from './harness.mjs'
import { fillDemo } from './demo.mjs'
import { phone } from './looks.mjs'
import { fillShop, fillTalk, policy } from './shop.mjs'

const folder = process.argv[2] ?? 'build/screenshots'
const only = process.argv[3]
mkdirSync(folder, { recursive: true })
const desk = { viewport: { width: 1360, height: 860 } }
for (const [name, options] of [['light', { ...desk, colorScheme: 'light' }], ['dark', { ...desk, colorScheme: 'dark' }], ['phone', { ...phone, colorScheme: 'light' }], ['phone-dark', { ...phone, colorScheme: 'dark' }]]) {
  if (only && only !== name) continue
  // Fresh for each: some of the requests wait only minutes.
  const server = await new Server().start()
  const made = await fillDemo(server)
  // A second one with a policy, for the pages about it.
  const shop = await new Server().start()
  for (const text of [policy.replace(/ {2}- \{id: stolen.*\n/, ''), policy]) await shop.admin.call('PUT', '/v1/policy', { text })
  const { billing, deploy, refund, ann } = await fillShop(shop)
  const session = await fillTalk(billing, ann)
  await ann.decide(await refund('1230', 15), 'approve', { grant: { for_s: 3600, uses: 5 } })
  await refund('1231', 11)
  // People take their time: a morning in a few seconds.
  const open_ones = []
  for (const command of ['git pull', 'systemctl restart shop', 'rm -r /srv/old-shop', 'git push origin release', 'nginx -s reload']) open_ones.push(await deploy.act('run', { command }))
  for (const [i, one] of open_ones.entries()) {
    await pause([300, 1900, 1200, 2600, 900][i])
    await ann.decide(one, i === 2 ? 'reject' : 'approve', i === 2 ? { reason: 'Keep it until the new shop is live.' } : {})
  }
  const asked = await refund('1234', 24)
  const page = await open(server, 'ann', options)
  const is_phone = name.startsWith('phone')
  const shot = (what) => page.screenshot({ path: `${folder}/${name}-${what}.png` })
  const back = () => is_phone && page.getByRole('button', { name: 'Inbox' }).click()
  await page.waitForTimeout(600)
  await shot('inbox')
  for (const kind of ['shell', 'refund', 'release', 'plan', 'question', 'confirmation', 'answer', 'odd']) {
    await show(page, made[kind])
    // What it is compared with comes when somebody stays.
    await page.waitForTimeout(500)
    await shot(kind)
    await back()
  }
  await show(page, made.refund)
  if (is_phone) await page.getByRole('button', { name: 'More decisions' }).click(), await shot('menu'), await page.getByRole('button', { name: 'Modify' }).click()
  else await page.keyboard.press('m')
  await page.getByLabel('amount').fill('24')
  await page.waitForTimeout(250)
  await shot('modify')
  await page.getByRole('button', { name: 'Back' }).click()
  await page.getByRole('button', { name: 'Reject' }).click()
  await page.getByText('The values are wrong.').click()
  await shot('reject')
  await page.getByRole('button', { name: 'Back' }).click()
  for (const [item, what] of [['Defer: try another way', 'defer'], ['Escalate to others', 'escalate'], ['Abort the whole run', 'abort'], ['Not now: put it off', 'later']]) {
    await page.getByRole('button', { name: 'More decisions' }).click()
    await page.getByRole('listitem').getByRole('button', { name: item }).click()
    await page.waitForTimeout(250)
    await shot(what)
    await page.getByRole('button', { name: 'Back' }).click()
  }
  await back()
  await show(page, made.shell)
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.waitForTimeout(100)
  if (!(await page.getByText('Type').count())) await page.waitForTimeout(450), await page.getByRole('button', { name: 'Approve' }).click()
  await shot('critical')
  await page.getByRole('button', { name: 'Back' }).click()
  await back()
  await page.locator('[id^="row-group"]').click()
  await page.getByRole('button', { name: 'Veto row 5' }).click()
  await shot('group')
  const [settled] = (await server.admin.get('/v1/requests?outcome=modified')).requests
  await page.goto(`${server.page_url}/r/${settled.id}`)
  await page.getByText('The agent was told').waitFor()
  await page.waitForTimeout(400)
  await shot('settled')
  for (const place of ['history', 'settings']) {
    await page.goto(`${server.page_url}/${place}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForTimeout(400)
    await shot(place)
  }
  await page.context().close()
  const admin = await open(server, 'admin', options)
  await admin.goto(`${server.page_url}/people`)
  await admin.getByText('billing-bot').first().waitFor()
  await admin.screenshot({ path: `${folder}/${name}-people.png` })
  await admin.context().close()
  const clerk = await open(shop, 'ann', options)
  const picture = async (path, what, ready) => {
    await clerk.goto(shop.page_url + path)
    await clerk.getByText(ready).first().waitFor()
    await clerk.waitForTimeout(400)
    await clerk.screenshot({ path: `${folder}/${name}-${what}.png` })
  }
  await picture('/policy', 'policy', 'What it extends')
  await picture('/policy?tab=suggest', 'suggestions', 'it rests on')
  await picture('/grants', 'grants', 'given by ann')
  await picture('/audit', 'audit', 'all there are')
  await picture('/stats', 'stats', 'By tool')
  await picture(`/chat?session=${session}`, 'chat', 'decision needed')
  await clerk.goto(`${shop.page_url}/policy?tab=explain`)
  await clerk.getByLabel('The call').fill(JSON.stringify({ tool: 'refund', args: { order: '1234', amount: 700, currency: 'EUR' } }, null, 2))
  await clerk.getByRole('button', { name: 'Explain', exact: true }).click()
  await clerk.getByText('What took part').waitFor()
  await clerk.screenshot({ path: `${folder}/${name}-explain.png` })
  await picture('/policy?tab=versions', 'versions', 'in force')
  await clerk.goto(`${shop.page_url}/policy?tab=backtest`)
  await clerk.getByLabel('A policy to try').fill(policy.replace('rules:\n', 'rules:\n  - {id: small, tools: [refund], when: args.amount <= 20, then: allow, auto_risk: medium}\n'))
  await clerk.getByRole('button', { name: 'Try it against the past' }).click()
  await clerk.getByText('questions less').waitFor()
  await clerk.getByText('questions less').scrollIntoViewIfNeeded()
  await clerk.screenshot({ path: `${folder}/${name}-backtest.png` })
  await picture(`/r/${asked.id}`, 'granting', 'Exactly what will run')
  await clerk.getByRole('button', { name: 'More decisions' }).click()
  await clerk.getByRole('button', { name: 'Approve similar for a while' }).click()
  await clerk.getByText(/would have passed/).waitFor()
  await clerk.screenshot({ path: `${folder}/${name}-granting.png` })
  await clerk.context().close()
  const guest = await open(server, null, options)
  await guest.goto(server.page_url)
  await guest.getByLabel('Name').waitFor()
  await guest.screenshot({ path: `${folder}/${name}-sign-in.png` })
  await guest.context().close()
  const fresh = await new Server().start()
  const newcomer = await open(fresh, 'admin', options)
  await newcomer.getByText('Nothing needs you').waitFor()
  await newcomer.screenshot({ path: `${folder}/${name}-empty.png` })
  await newcomer.goto(`${fresh.page_url}/chat`)
  await newcomer.getByText('No conversation yet').waitFor()
  await newcomer.screenshot({ path: `${folder}/${name}-no-chat.png` })
  await newcomer.context().close()
  for (const one of [server, shop, fresh]) await one.stop()
}
await closeBrowser()
