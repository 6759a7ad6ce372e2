// Looking at a page as everybody's tools would. The suspicious reader is in inside.mjs.
import assert from 'node:assert/strict'
import { axe_source, devices } from './harness.mjs'

export const phone = { ...devices['iPhone 13'], defaultBrowserType: undefined }

/** Every page in these. */
export const variants = [['desk', {}], ['phone', phone]]

// The theme is nothing but colours: what does not depend on them is looked at once.
const themes = [['light', {}], ['dark', { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } }]]

/** Where only the layout differs from what is looked at elsewhere: colours stay what they are in any width. */
export const in_one_theme = [['light', { rules: { 'color-contrast': { enabled: false }, 'link-in-text-block': { enabled: false } } }]]
/** For those who asked for more contrast: seven to one, not four and a half. */
export const with_more_contrast = ['light', 'dark'].map((theme) => [theme, { runOnly: { type: 'rule', values: ['color-contrast-enhanced'] }, rules: { 'color-contrast-enhanced': { enabled: true } } }])

/** Goes there as a link does, without loading the page anew, and waits until that is what is shown. */
export async function follow(page, path) {
  await page.evaluate((path) => {
    const heading = document.querySelector('h1')
    const is_inbox = (where) => /^\/(r\/|$)/.test(where)
    const stays = is_inbox(location.pathname) && is_inbox(path)
    history.pushState(null, '', path)
    dispatchEvent(new PopStateEvent('popstate'))
    const [, request] = path.match(/^\/r\/(\w+)/) ?? []
    globalThis.has_arrived = () => (stays || document.querySelector('h1') !== heading) && (!request || document.querySelector(`[data-request="${request}"]`))
  }, `/${path}`)
  await page.waitForFunction(() => globalThis.has_arrived())
  await atRest(page)
}

/** Until the page is there and nothing turns on it any more: what is looked at is not that it is being read. */
export async function atRest(page) {
  await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' })
  await page.waitForFunction(
    () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(document.querySelector('h1') && !document.querySelector('.turning, article .invisible'))))),
  )
}

/** Fails if axe finds something in what is shown now (or in the part `within`), in either theme, or if it is wider than the window. */
export async function check(page, where, only = themes, within = 'html') {
  // By the debugger, which the page's policy does not bind.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(`${axe_source}; 0`)
  const { told, wide } = await page.evaluate(async ({ runs, within }) => {
    // Colours on their way from one theme to the other are neither.
    const still = new CSSStyleSheet()
    still.replaceSync('* { transition: none !important }')
    document.adoptedStyleSheets.push(still)
    const root = document.documentElement
    const wide = root.scrollWidth - innerWidth
    const before = root.dataset.theme
    const told = []
    for (const [theme, rules] of runs) {
      // As the setting does it; the browser's own switch takes half a second.
      root.dataset.theme = theme
      // Nothing that is asked here needs the style sheets as text.
      const found = await globalThis.axe.run(within, { resultTypes: ['violations'], preload: false, ...rules })
      for (const { id, help, nodes } of found.violations) told.push(`${theme}: ${id}: ${help}\n    ${nodes.slice(0, 4).map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message ?? ''}`).join('\n    ')}`)
    }
    if (before) root.dataset.theme = before
    else delete root.dataset.theme
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== still)
    return { told, wide }
  }, { runs: only, within })
  assert.deepEqual(told, [], where)
  assert.ok(wide <= 0, `${where} is ${wide} pixels too wide`)
}

/** The same on a desk and, with the same state in it, as narrow as a phone. */
export async function checkInBothWidths(page, where, within = 'html') {
  await check(page, where, themes, within)
  const wide = page.viewportSize()
  await page.setViewportSize({ width: phone.viewport.width, height: phone.viewport.height })
  await page.locator(within).waitFor()
  await check(page, `${where}, on a phone`, themes, within)
  await page.setViewportSize(wide)
}
