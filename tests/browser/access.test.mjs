// Everybody can use it: axe finds nothing on any page in any state, light or dark, desk or phone; zoomed to 200 % nothing
// is cut off; a phone held in one hand reaches the decision.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { armed, assertClean, closeBrowser, eventually, open, prefer, pressToTheEnd, rowOf, Server, show } from './harness.mjs'
import { fillDemo, fillMany } from './demo.mjs'
import { unfold } from './inside.mjs'
import { fillShop, policyFile } from './shop.mjs'
import { atRest, follow, check, checkInBothWidths, in_one_theme, phone, variants, with_more_contrast } from './looks.mjs'

let server, made, billing, ann
before(async () => {
  server = await new Server().start()
  // On a busy machine the last test comes long after what waits four minutes.
  made = await fillDemo(server, 20)
  billing = await server.agent('other-bot')
  ann = server.admin
})
after(async () => {
  await closeBrowser()
  await server.stop()
})

for (const [name, options] of variants) {
  const is_phone = name === 'phone'
  // Beside the list, which stays as it is, only the request changes; on a phone it is the page.
  const checkRequest = is_phone ? check : (page, where) => check(page, where, undefined, 'section[aria-label=Decision]')
  test(`H6 axe finds nothing: inbox and decisions, ${name}`, async () => {
    const page = await open(server, 'ann', options)
    const back = async () => is_phone && page.getByRole('button', { name: 'Inbox' }).click()
    await rowOf(page, made.shell).waitFor()
    await check(page, 'list')
    for (const kind of ['shell', 'refund', 'release', 'plan', 'question', 'confirmation', 'answer', 'odd']) {
      await show(page, made[kind])
      await unfold(page)
      await (kind === 'shell' ? check : checkRequest)(page, kind)
      await back()
    }
    await show(page, made.refund)
    for (const [item, label] of [['Modify', 'Change what will run'], ['Defer: try another way', 'Defer'], ['Escalate to others', 'Escalate'], ['Abort the whole run', 'Abort']]) {
      await page.getByRole('button', { name: 'More decisions' }).click()
      // The same menu each time.
      if (item === 'Modify') await checkRequest(page, 'menu')
      await page.getByRole('listitem').getByRole('button', { name: item }).click()
      await page.getByText(label).first().waitFor()
      await checkRequest(page, item)
      await page.getByRole('button', { name: 'Back' }).click()
    }
    await page.getByRole('button', { name: 'Reject' }).click()
    await checkRequest(page, 'reject')
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByRole('button', { name: 'More decisions' }).click()
    await page.getByRole('listitem').getByRole('button', { name: 'Approve with a note' }).click()
    await page.getByLabel('A note with your approval').waitFor()
    await check(page, 'note', undefined, 'article footer')
    await page.keyboard.press('Escape')
    await back()
    await show(page, made.release)
    await page.getByRole('button', { name: 'Approve' }).click()
    if (await page.getByText('There is more to read').count()) {
      await armed(page)
      await page.getByRole('button', { name: 'Approve' }).click()
    }
    await page.getByText('High risk: look once more').waitFor()
    await check(page, 'high risk', undefined, 'article footer')
    await page.getByRole('button', { name: 'Back' }).click()
    await back()
    await show(page, made.shell)
    await page.getByRole('button', { name: 'Approve' }).click()
    if (await page.getByText('There is more to read').count()) {
      await armed(page)
      await page.getByRole('button', { name: 'Approve' }).click()
    }
    await page.getByText('Critical: confirm what you release').waitFor()
    await checkRequest(page, 'critical')
    await page.getByRole('button', { name: 'Back' }).click()
    await back()
    await page.locator('[id^="row-group"]').click()
    await page.getByRole('button', { name: 'Veto row 2' }).click()
    await check(page, 'group')
    await page.context().close()
  })

  test(`H6 axe finds nothing: the other screens, ${name}`, async () => {
    const page = await open(server, 'admin', options)
    for (const [path, text] of [['history', 'billing-bot'], ['stats', 'By tool'], ['people', 'billing-bot'], ['settings', 'Sign out']]) {
      await page.goto(`${server.page_url}/${path}`)
      await page.getByText(text).first().waitFor()
      await check(page, path)
    }
    await page.goto(`${server.page_url}/people`)
    await page.getByRole('button', { name: 'New person' }).click()
    await check(page, 'dialog')
    for (const button of ['Groups', 'Sessions', 'Disable', 'Revoke']) {
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: button, exact: true }).first().click()
      await page.locator('dialog[open]').waitFor()
      await check(page, button, undefined, 'dialog')
    }
    if (is_phone) {
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'More', exact: true }).tap()
      await page.getByRole('dialog').getByRole('link', { name: 'Audit' }).waitFor()
      await check(page, 'more', undefined, 'dialog')
    }
    await page.goto(`${server.page_url}/r/${(await server.admin.get('/v1/requests?outcome=modified')).requests[0].id}`)
    await page.getByText('The agent was told').waitFor()
    await check(page, 'settled')
    if (!is_phone) {
      await page.goto(server.page_url)
      await page.getByRole('button', { name: 'Keys' }).click()
      await check(page, 'keys')
    }
    await page.context().close()
    const guest = await open(server, null, options)
    await guest.goto(server.page_url)
    await guest.getByLabel('Name').waitFor()
    await check(guest, 'sign-in')
    await guest.goto(await server.link('ann'))
    await guest.getByRole('button', { name: 'Sign in' }).waitFor()
    await check(guest, 'sign-in by link')
    await guest.context().close()
  })
}

for (const [name, options] of variants) {
  test(`H6 an address that is no page says so and leads to the inbox, signed in or not, ${name}`, async () => {
    for (const [person, destination] of [['ann', '[id^="row-"]'], [null, '#password']]) {
      const page = await open(server, person, options)
      for (const path of ['nonsense', 'history/', 'r/a/b']) {
        const answer = await page.goto(`${server.page_url}/${path}`)
        assert.equal(answer.status(), 404)
        await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
      }
      if (person) assert.equal(await page.locator('nav [aria-current]').count(), 0, 'no place in the page is this one')
      await check(page, `no page, ${person ?? 'signed out'}`)
      await page.getByRole('link', { name: 'To the inbox', exact: true }).click()
      await page.locator(destination).first().waitFor()
      assert.equal(new URL(page.url()).pathname.replace(/^\/r\/req_\w+$/, '/'), '/')
      await assertClean(page)
      await page.context().close()
    }
  })
}

test('H6 the page is as dark as the system, unless somebody chose', async () => {
  const page = await open(server, 'ann', { colorScheme: 'dark' })
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const dark = await paper()
  await prefer(page, { theme: 'light' })
  assert.notEqual(await paper(), dark)
  await page.emulateMedia({ colorScheme: 'light' })
  await prefer(page, { theme: 'dark' })
  assert.equal(await paper(), dark)
  await prefer(page, {})
  assert.notEqual(await paper(), dark)
  await page.context().close()
})

test('H6 the empty inbox teaches, and axe finds nothing there', async () => {
  const fresh = await new Server().start()
  const page = await open(fresh, 'admin', { bypassCSP: true })
  await page.getByText('Nothing needs you').waitFor()
  assert.match(await page.locator('pre').innerText(), new RegExp(`curl ${fresh.page_url}/v1/requests`))
  await check(page, 'empty')
  const agent = await fresh.agent('first-bot')
  const request = await agent.act('process_refund', { orderId: '1234', amount: 24 })
  await rowOf(page, request).waitFor()
  await page.context().close()
  await fresh.stop()
})

test('H6 axe finds nothing where there is nothing yet, nothing that fits, nothing to be had, or nothing to decide', { timeout: 240_000 }, async () => {
  const fresh = await new Server().start()
  const look = async (page, path, what = path, shown = null) => {
    await page.goto(`${fresh.page_url}/${path}`)
    await atRest(page)
    await shown?.waitFor()
    await checkInBothWidths(page, what)
  }
  const page = await open(fresh, 'admin')
  for (const path of ['chat', 'history', 'grants', 'stats', 'audit', 'policy?tab=backtest', 'policy?tab=suggest', 'policy?tab=versions']) await look(page, path, `${path}, empty`)
  await look(page, 'r/req_01M7PD8QPQSZEG1CK244A5K186', 'a request that is not there')
  const request = await (await fresh.agent('first-bot')).act('process_refund', { orderId: '1234', amount: 24 })
  for (const path of ['?q=nothing+has+this', 'history?tool=unknown', 'audit?tool=unknown']) await look(page, path)
  await page.route('**/v1/{stats,users,grants,policy,requests}*', (route) => route.fulfill({ status: 503, contentType: 'application/json', body: '{"error":{"code":"unavailable","message":"the store could not answer"}}' }))
  const told = page.getByRole('alert').filter({ hasText: 'The store could not answer.' }).first()
  for (const path of ['stats', 'people', 'grants', 'policy', 'history', 'chat']) await look(page, path, `${path}, which cannot be read`, told)
  await page.unroute('**/v1/{stats,users,grants,policy,requests}*')
  await page.route('**/v1/{users,policy,policy/**,requests/*/events,requests?*outcome*,requests?*settled*}', (route) => route.fulfill({ status: 503, contentType: 'application/json', body: '{"error":{"code":"unavailable","message":"the store could not answer"}}' }))
  await page.goto(`${fresh.page_url}/r/${request.id}`)
  for (const fold of ['Why this waits, and who decides', 'Timeline']) {
    await page.getByText(fold).click()
    await page.locator('details', { hasText: fold }).getByRole('alert').waitFor()
  }
  await armed(page)
  await page.keyboard.press('e')
  await page.getByRole('group', { name: 'Escalate: somebody else decides' }).getByRole('alert').waitFor()
  await page.context().close()
  await fresh.person('olga', { role: 'auditor' })
  const auditor = await open(fresh, 'olga')
  for (const path of ['', `r/${request.id}`, 'people', 'settings']) await look(auditor, path, `/${path} for an auditor`)
  await auditor.context().close()
  await fresh.stop()
})

test('H6 what cannot be copied is selected, and nothing says that it was copied', async () => {
  const page = await open(server, 'admin')
  await page.goto(`${server.page_url}/r/${made.refund.id}`)
  await page.getByText('Identifiers and metadata').click()
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  await page.getByRole('button', { name: 'Copy link' }).click()
  await page.getByLabel('Select and copy it').waitFor()
  assert.equal(await page.evaluate(() => getSelection().toString() || document.activeElement.value), `${server.page_url}/r/${made.refund.id}`)
  assert.equal(await page.getByText('Copied').count(), 0)
  await page.context().close()
})

test('H6 a phone in one hand: from the list to the decision in two taps', async () => {
  const page = await open(server, 'ann', phone)
  const request = await billing.act('quick', { amount: 1 })
  await rowOf(page, request).tap()
  const button = page.getByRole('button', { name: 'Approve' })
  await button.waitFor()
  await armed(page)
  const box = await button.boundingBox()
  assert.ok(box.height >= 44, 'large enough for a thumb')
  assert.ok(box.y > page.viewportSize().height * 0.75, 'where the thumb is')
  await button.tap()
  await eventually('it is approved', async () => (await billing.read(request)).outcome === 'approved')
  await page.getByText(/quick: approved/).waitFor()
  await rowOf(page, made.refund).waitFor()
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true)
  await page.context().close()
})

test('H6 a tap anywhere on a row opens it on a phone, and the focus goes along', async () => {
  const page = await open(server, 'ann', phone)
  // The second time, what opens is here already: nothing comes later than the tap.
  for (const request of [made.refund, made.shell]) {
    await rowOf(page, request).locator('svg').first().tap()
    await page.locator(`[data-request="${request.id}"]`).waitFor()
    await eventually('the focus is on what opened', () => page.evaluate(() => document.activeElement.closest('article') !== null))
    await page.getByRole('button', { name: 'Inbox' }).tap()
  }
  await page.getByRole('button', { name: 'Select', exact: true }).tap()
  await rowOf(page, made.refund).locator('span').first().tap()
  await page.getByRole('button', { name: 'Decide 1 selected' }).waitFor()
  await page.context().close()
})

test('H6 a phone selects several and decides them together', async () => {
  const page = await open(server, 'ann', phone)
  const some = [await billing.act('alpha', {}), await billing.act('beta', {})]
  await page.getByRole('button', { name: 'Select', exact: true }).tap()
  for (const request of some) {
    await rowOf(page, request).scrollIntoViewIfNeeded()
    await rowOf(page, request).tap()
  }
  await page.getByRole('button', { name: 'Decide 2 selected' }).tap()
  await armed(page)
  await pressToTheEnd(page, 'Approve 2')
  await page.getByRole('button', { name: 'Yes, approve 2' }).tap()
  for (const request of some) await eventually('approved', async () => (await billing.read(request)).outcome === 'approved')
  await page.context().close()
})

test('H6 the Back of a phone leads from a group, a selection or a request to the list', async () => {
  const page = await open(server, 'ann', phone)
  const some = await Promise.all(['a', 'b', 'c'].map((to) => billing.act('leaflet', { to })))
  const list = page.getByRole('listbox')
  const group = page.locator('[id^="row-group"]', { hasText: 'leaflet' })
  await group.tap()
  await page.getByText('3 alike: leaflet').waitFor()
  await page.goBack()
  await list.waitFor()
  // The button on the page goes the same way, and leaves nothing behind it.
  await group.tap()
  await page.getByRole('button', { name: 'Inbox' }).tap()
  await list.waitFor()
  await page.getByRole('button', { name: 'Select', exact: true }).tap()
  await rowOf(page, made.refund).tap()
  await page.getByRole('button', { name: 'Decide 1 selected' }).tap()
  await page.getByText('1 request selected').waitFor()
  await page.goBack()
  await list.waitFor()
  await page.getByRole('button', { name: 'Select', exact: true }).tap()
  await rowOf(page, made.refund).tap()
  await page.locator(`[data-request="${made.refund.id}"]`).waitFor()
  await page.goBack()
  await list.waitFor()
  assert.equal(new URL(page.url()).pathname, '/')
  for (const request of some) await ann.decide(request, 'reject')
  await page.context().close()
})

test('U1 H6 a phone vetoes one of several alike and approves the rest', async () => {
  const page = await open(server, 'ann', phone)
  await prefer(page, { hold: 'off' })
  const some = await Promise.all(['a', 'b', 'c', 'd'].map((to) => billing.act('remind', { to })))
  await page.locator('[id^="row-group"]', { hasText: 'remind' }).tap()
  await armed(page)
  await page.getByRole('button', { name: 'Veto row 2' }).tap()
  await pressToTheEnd(page, 'Approve 3, reject 1')
  await page.getByRole('button', { name: 'Yes, approve 3, reject 1' }).tap()
  const outcomes = async () => (await Promise.all(some.map((request) => billing.read(request)))).map((one) => one.outcome).sort()
  await eventually('three are approved and one is rejected', async () => (await outcomes()).join() === 'approved,approved,approved,rejected')
  await page.context().close()
})

for (const [what, viewport] of [['200 % zoom', { width: 680, height: 430 }], ['320 pixels', { width: 320, height: 640 }]]) {
  test(`H6 nothing is cut off at ${what}, and axe finds nothing`, { timeout: 240_000 }, async () => {
    const page = await open(server, 'admin', { viewport })
    for (const path of ['', `r/${made.shell.id}`, `r/${made.plan.id}`, `r/${made.question.id}`, 'chat', 'history', 'grants', 'policy', 'stats', 'audit', 'people', 'settings']) {
      await follow(page, path)
      const [wide, has_bar] = await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, [...document.querySelectorAll('article footer button')].every((button) => button.getBoundingClientRect().right <= innerWidth + 1)])
      assert.ok(wide <= 0, `${path} is ${wide} pixels too wide`)
      assert.ok(has_bar, `${path}: the bar fits`)
      await check(page, `/${path} at ${what}`, in_one_theme)
      if (path !== `r/${made.shell.id}`) continue
      for (const [key, title] of [['r', 'Reject: it will not run'], ['d', 'Defer: it will not run'], ['e', 'Escalate: somebody else decides'], ['x', 'Abort: the whole run stops']]) {
        await page.keyboard.press(key)
        await page.getByText(title).first().waitFor()
        await check(page, `${title} at ${what}`, in_one_theme, 'article footer')
        await page.getByRole('button', { name: 'Back' }).click()
      }
      await page.keyboard.press('m')
      await page.getByText('Edit as JSON').waitFor()
      await check(page, `changing at ${what}`, in_one_theme)
      await page.getByText('Edit as JSON').click()
      await page.getByLabel('Arguments as JSON').waitFor()
      await check(page, `changing as JSON at ${what}`, in_one_theme)
    }
    await page.context().close()
  })
}

test('H6 a panel leaves what is decided in sight and its buttons within reach: zoomed, on a small phone, on one lying', { timeout: 240_000 }, async () => {
  const shop = await new Server(['--policy', policyFile()]).start()
  const { refund, deploy } = await fillShop(shop)
  const asked = await refund('1300', 24)
  const wipe = await deploy.act('wipe', { database: 'orders' })
  for (const [what, viewport] of [['200 % zoom', { width: 680, height: 430 }], ['320 pixels', { width: 320, height: 640 }], ['a phone lying', { width: 844, height: 390 }]]) {
    const page = await open(shop, 'ann', { viewport })
    const fits = async (panel) => {
      const found = await page.evaluate(() => {
        const box = (element) => element.getBoundingClientRect()
        const asked = box(document.querySelector('article [role=region]'))
        const buttons = [...document.querySelectorAll('article footer :is(.panel-foot, .panel-foot + *, footer > div > :last-child) button')].filter((one) => one.checkVisibility())
        return { asked: asked.height, top: box(document.querySelector('article footer')).top, buttons: buttons.map((one) => [one.textContent, box(one).top >= 0 && box(one).bottom <= innerHeight && box(one).right <= innerWidth + 1]), too_long: document.documentElement.scrollHeight - innerHeight }
      })
      assert.ok(found.buttons.length > 0, `${panel} at ${what} has buttons`)
      assert.deepEqual(found.buttons.filter(([, is_whole]) => !is_whole), [], `${panel} at ${what}: its buttons are whole`)
      assert.ok(found.asked >= 100 && found.top >= 100, `${panel} at ${what}: what is asked has ${found.asked} pixels, the bar begins at ${found.top}`)
      assert.equal(found.too_long, 0, `${panel} at ${what}: the page does not grow`)
    }
    const look = async (request) => {
      await page.goto(`${shop.page_url}/r/${request.id}`)
      await page.getByRole('button', { name: 'More decisions' }).waitFor()
      await armed(page)
    }
    await look(asked)
    for (const [key, title] of [['r', 'Reject: it will not run'], ['d', 'Defer: it will not run'], ['e', 'Escalate: somebody else decides'], ['x', 'Abort: the whole run stops'], ['n', 'Not now: put it off'], ['s', /would have passed/], ['w', 'A note with your approval']]) {
      await page.keyboard.press(key)
      // What is not read to its end is shown first.
      if (key === 's' && (await page.getByText('There is more to read').count())) await page.keyboard.press(key)
      await page.getByText(title).first().waitFor()
      await fits(title)
      if (key === 's') await eventually(`what will run is seen above the grant at ${what}`, () => page.evaluate(() => {
        const [shown, value] = [document.querySelector('article [role=region]'), document.evaluate('//article//*[text()="amount"]', document, null, 9).singleNodeValue].map((one) => one.getBoundingClientRect())
        return value.top >= shown.top && value.bottom <= shown.bottom
      }))
      await check(page, `${title} at ${what}`, in_one_theme, 'article footer')
      await page.keyboard.press('Escape')
    }
    await look(wipe)
    for (let i = 0; i < 2 && !(await page.getByText('Critical: confirm').count()); ++i) {
      await page.getByRole('button', { name: 'Approve' }).click()
      await armed(page)
    }
    await page.getByText('Critical: confirm').waitFor()
    await fits('the code')
    await page.context().close()
  }
  await shop.stop()
})

test('H6 whoever asks for more contrast gets it, on every page', { timeout: 240_000 }, async () => {
  const page = await open(server, 'admin')
  await page.emulateMedia({ contrast: 'more' })
  for (const path of ['', `r/${made.shell.id}`, `r/${made.plan.id}`, `r/${made.odd.id}`, 'chat', 'history', 'grants', 'policy', 'stats', 'audit', 'people', 'settings']) {
    await follow(page, path)
    await check(page, `/${path} with more contrast`, with_more_contrast)
  }
  await page.context().close()
})

test('H6 in the few colours of the system the chosen row, pressed buttons and the place one is at are seen', async () => {
  const page = await open(server, 'ann', { forcedColors: 'active' })
  await show(page, made.shell)
  await page.getByRole('button', { name: 'For me' }).click()
  const line = (one) => one.evaluate((element) => { const style = getComputedStyle(element); return style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth) })
  assert.ok((await line(page.locator('[role=option][aria-selected=true]'))) >= 3)
  assert.equal(await line(page.locator('[role=option][aria-selected=false]').first()), 0)
  await page.mouse.click(900, 200)
  assert.ok((await line(page.getByRole('button', { name: 'For me' }))) >= 2)
  assert.equal(await line(page.getByRole('button', { name: 'Select' })), 0)
  assert.match(await page.locator('header nav [aria-current=page]').evaluate((element) => getComputedStyle(element).textDecorationLine), /underline/)
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/forced.png` })
  await page.context().close()
})

test('U2 10,000 wait: the list is whole, and only what is seen exists in the page', { timeout: 300_000 }, async () => {
  const large = await new Server(['--pending-max', '20000']).start()
  await fillMany(large, 10_000)
  const page = await open(large, 'admin')
  await page.getByText('10,000 waiting').waitFor({ timeout: 180_000 })
  assert.ok((await page.locator('[role=option]').count()) < 60)
  await page.locator('#requests').focus()
  await page.keyboard.press('End')
  const last = page.locator('[role=option][aria-selected=true]')
  await eventually('the last row is chosen', async () => (await last.getAttribute('aria-posinset')) === (await last.getAttribute('aria-setsize')))
  await page.context().close()
  await large.stop()
})
