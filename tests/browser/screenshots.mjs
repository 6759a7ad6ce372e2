// Pictures of every screen, light and dark, desk and phone: `node tests/browser/screenshots.mjs [FOLDER]`.
import { mkdirSync } from 'node:fs'
import { closeBrowser, open, rowOf, Server, show } from './harness.mjs'
import { fillDemo } from './demo.mjs'
import { phone } from './looks.mjs'
import { fillShop, policyFile } from './shop.mjs'

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
  const shop = await new Server(['--policy', policyFile()]).start()
  const { refund, ann } = await fillShop(shop)
  await ann.decide(await refund('1230', 15), 'approve', { grant: { for_s: 3600, uses: 5 } })
  await refund('1231', 11)
  const asked = await refund('1234', 24)
  const page = await open(server, 'ann', options)
  const is_phone = name.startsWith('phone')
  const shot = (what) => page.screenshot({ path: `${folder}/${name}-${what}.png` })
  const back = () => is_phone && page.getByRole('button', { name: 'Inbox' }).click()
  await page.waitForTimeout(600)
  await shot('inbox')
  for (const kind of ['shell', 'refund', 'release', 'plan', 'question', 'confirmation', 'answer', 'odd']) {
    await show(page, made[kind])
    await page.waitForTimeout(200)
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
  for (const place of ['history', 'stats', 'settings']) {
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
  await picture('/chat?session=ticket-8812', 'chat', 'decision needed')
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
  await server.stop()
  await shop.stop()
}
await closeBrowser()
