// Looking at a page as everybody's tools would: axe on one side, a suspicious reader on the other.
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

/**
 * Opens everything that is folded away, but for what is called `except`, and waits for what it loads. Clicked inside the page:
 * one click at a time took most of a suite.
 */
export async function unfold(page, except = null) {
  await page.evaluate((name) => document.querySelectorAll('details:not([open]) > summary').forEach((summary) => (name && summary.textContent.includes(name)) || summary.click()), except)
  await page.waitForFunction(() => !document.querySelector('details .turning, details ol:empty'))
  await page.waitForFunction(() => {
    const folded = [...document.querySelectorAll('main button.btn-link')].filter((button) => /\d more (?:character|member)/.test(button.textContent))
    folded.forEach((button) => button.click())
    return folded.length === 0
  })
}

/** What foreign text did to the page, or to a part of it: markup that is not ours, letters that are not seen, also in fields, a broken layout. */
export const wrongsOn = (page, within = 'body') =>
  page.evaluate((within) => {
    const invisible = /[\p{Cf}\p{Co}\p{Zl}\p{Zp}\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800\u3164\uffa0\u115f\u1160\u034f\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u
    const emoji = /\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?(?:\u200d\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)*/gu
    const wrong = []
    const walker = document.createTreeWalker(document.querySelector(within), NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node instanceof Text) {
        // What a field began with; what it holds is asked of the field.
        if (node.parentElement?.tagName === 'TEXTAREA') continue
        if (invisible.test(node.data.replace(emoji, ''))) wrong.push(`hidden character in the text ${JSON.stringify(node.data.slice(0, 80))}`)
        continue
      }
      if (/^(SCRIPT|IFRAME|IMG|OBJECT|EMBED|LINK|STYLE|BASE|META|VIDEO|AUDIO|TEMPLATE|MARQUEE|FRAME|SOURCE|PICTURE|PLAINTEXT)$/i.test(node.tagName) && node.tagName !== 'SCRIPT') wrong.push(`an element <${node.tagName}>`)
      if (node.tagName === 'SCRIPT' && node.closest('#root')) wrong.push('a script inside the page')
      if (node.tagName === 'FORM' && (node.hasAttribute('action') || !node.closest('main'))) wrong.push('a form that is not ours')
      // A field shows its value as it is: what hides in it stands printed in its description.
      const value = /^(?:INPUT|TEXTAREA)$/.test(node.tagName) ? node.value.replace(emoji, '') : ''
      if (invisible.test(value.replaceAll('\t', ''))) {
        const hints = (node.getAttribute('aria-describedby') ?? '').split(' ').map((id) => document.getElementById(id))
        if (!hints.some((hint) => hint?.querySelector('.hidden-character'))) wrong.push(`hidden character in the field ${JSON.stringify(value.slice(0, 80))}`)
      }
      for (const attribute of node.attributes) {
        if (/^on/i.test(attribute.name)) wrong.push(`a handler ${attribute.name}`)
        if (/^(href|src|action|formaction)$/i.test(attribute.name) && !/^[/#]/.test(attribute.value)) wrong.push(`${attribute.name}=${attribute.value}`)
        if (!/^(value|id|href|aria-activedescendant)$/.test(attribute.name) && invisible.test(attribute.value.replace(emoji, ''))) wrong.push(`hidden character in ${attribute.name}`)
      }
    }
    if (globalThis.pwned) wrong.push('a script ran')
    if (document.documentElement.scrollWidth > innerWidth) wrong.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${innerWidth}`)
    const bar = document.querySelector('article footer')?.getBoundingClientRect()
    if (bar && (bar.bottom > innerHeight + 1 || bar.right > innerWidth + 1 || bar.height > innerHeight * 0.6)) wrong.push('the decision bar left the window')
    return wrong
  }, within)
