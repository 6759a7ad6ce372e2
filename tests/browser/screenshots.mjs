// Pictures of every screen, light and dark, desk and phone: `node tests/browser/screenshots.mjs [FOLDER]`.
import { mkdirSync } from 'node:fs'
import { closeBrowser, devices, open, rowOf, Server, show } from './harness.mjs'
import { fillDemo } from './demo.mjs'

const folder = process.argv[2] ?? 'build/screenshots'
const only = process.argv[3]
mkdirSync(folder, { recursive: true })
const desk = { viewport: { width: 1360, height: 860 } }
const phone = { ...devices['iPhone 13'], defaultBrowserType: undefined }
for (const [name, options] of [['light', { ...desk, colorScheme: 'light' }], ['dark', { ...desk, colorScheme: 'dark' }], ['phone', { ...phone, colorScheme: 'light' }], ['phone-dark', { ...phone, colorScheme: 'dark' }]]) {
  if (only && only !== name) continue
  // Fresh for each: some of the requests wait only minutes.
  const server = await new Server().start()
  const made = await fillDemo(server)
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
  const guest = await open(server, null, options)
  await guest.goto(server.page_url)
  await guest.getByLabel('Name').waitFor()
  await guest.screenshot({ path: `${folder}/${name}-sign-in.png` })
  await guest.context().close()
  await server.stop()
}
await closeBrowser()
