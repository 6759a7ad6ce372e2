// What is done inside a page in one go: a walk through many requests takes one call instead of a dozen for each.

/** What the functions that are sent there have at hand. Nothing from outside is known in here. */
function makeTools() {
  /** Looks again whenever the page has changed. */
  const until = (what, look) =>
    new Promise((resolve, reject) => {
      const again = () => {
        const found = look()
        if (!found) return false
        observer.disconnect()
        clearTimeout(limit)
        resolve(found)
        return true
      }
      const observer = new MutationObserver(again)
      const limit = setTimeout(() => {
        observer.disconnect()
        reject(new Error(`did not happen: ${what}`))
      }, 30_000)
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
      again()
    })
  const find = (selector) => document.querySelector(selector)
  const textOf = (selector) => find(selector)?.textContent ?? ''

  /** Goes to another address without loading the page again: the name of a row may itself be anything. */
  const move = (path) => {
    history.pushState(null, '', path)
    dispatchEvent(new PopStateEvent('popstate'))
  }
  const visit = (id) => {
    move(`/r/${id}`)
    return until(`request ${id} is shown`, () => find(`[data-request="${id}"]`))
  }
  const press = (key, where = document.body) => where.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
  const click = async (selector, text) => (await until(`the button ${text}`, () => [...document.querySelectorAll(selector)].find((one) => one.textContent === text))).click()

  /** Opens everything that is folded away, and waits for what it loads. */
  const unfold = async () => {
    document.querySelectorAll('details:not([open]) > summary').forEach((summary) => summary.click())
    // What stands below the comparison with before is shown when that is there.
    await until('what was folded is loaded', () => !find('details .turning, details ol:empty, details[open] > div:empty, article .invisible'))
    await until('nothing is cut short', () => {
      const folded = [...document.querySelectorAll('main button.btn-link')].filter((button) => /\d more (?:character|member)/.test(button.textContent))
      folded.forEach((button) => button.click())
      return folded.length === 0
    })
  }

  const invisible = /[\p{Cf}\p{Co}\p{Zl}\p{Zp}\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800\u3164\uffa0\u115f\u1160\u034f\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u
  const emoji = /\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?(?:\u200d\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)*/gu
  // Nearly all of a page is plain letters: these are asked about once, and quickly.
  const plain = /^[\n -~]*$/
  const hides = (text) => !plain.test(text) && invisible.test(text) && invisible.test(text.replace(emoji, ''))

  /** What foreign text did to the page, or to parts of it: markup that is not ours, letters that are not seen, also in fields, a broken layout. */
  const wrongs = (within = 'body') => {
    const wrong = []
    const roots = [...document.querySelectorAll(within)]
    if (roots.length === 0) wrong.push(`there is no ${within}`)
    for (const root of roots) {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (node instanceof Text) {
          // What a field began with; what it holds is asked of the field.
          if (hides(node.data) && node.parentElement?.tagName !== 'TEXTAREA') wrong.push(`hidden character in the text ${JSON.stringify(node.data.slice(0, 80))}`)
          continue
        }
        if (/^(IFRAME|IMG|OBJECT|EMBED|LINK|STYLE|BASE|META|VIDEO|AUDIO|TEMPLATE|MARQUEE|FRAME|SOURCE|PICTURE|PLAINTEXT)$/i.test(node.tagName)) wrong.push(`an element <${node.tagName}>`)
        if (node.tagName === 'SCRIPT' && node.closest('#root')) wrong.push('a script inside the page')
        if (node.tagName === 'FORM' && (node.hasAttribute('action') || !node.closest('main'))) wrong.push('a form that is not ours')
        // A field shows its value as it is: what hides in it stands printed in its description.
        const value = /^(?:INPUT|TEXTAREA)$/.test(node.tagName) ? node.value : ''
        if (hides(value.replaceAll('\t', ''))) {
          const hints = (node.getAttribute('aria-describedby') ?? '').split(' ').map((id) => document.getElementById(id))
          if (!hints.some((hint) => hint?.querySelector('.hidden-character'))) wrong.push(`hidden character in the field ${JSON.stringify(value.slice(0, 80))}`)
        }
        for (const attribute of node.attributes) {
          if (/^on/i.test(attribute.name)) wrong.push(`a handler ${attribute.name}`)
          if (/^(href|src|action|formaction)$/i.test(attribute.name) && !/^[/#]/.test(attribute.value)) wrong.push(`${attribute.name}=${attribute.value}`)
          if (!/^(value|id|href|aria-activedescendant)$/.test(attribute.name) && hides(attribute.value)) wrong.push(`hidden character in ${attribute.name}`)
        }
      }
    }
    if (globalThis.pwned) wrong.push('a script ran')
    if (document.body.textContent.includes('Too many calls')) wrong.push('the test was too quick for the server')
    if (document.documentElement.scrollWidth > innerWidth) wrong.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${innerWidth}`)
    const bar = find('article footer')?.getBoundingClientRect()
    if (bar && (bar.bottom > innerHeight + 1 || bar.right > innerWidth + 1 || bar.height > innerHeight * 0.6)) wrong.push('the decision bar left the window')
    return wrong
  }
  return { until, find, textOf, move, visit, press, click, unfold, wrongs }
}

/** Gives what `work(tools, argument)` gives inside the page. By the debugger, which the page's policy does not bind. */
export const inside = (page, work, argument = null) =>
  page.evaluate(`(async () => {
    const tools = (globalThis.tools_of_the_test ??= (${makeTools})())
    return (${work})(tools, JSON.parse(${JSON.stringify(JSON.stringify(argument))}))
  })()`)

/** Opens everything that is folded away, and waits for what it loads. */
export const unfold = (page) => inside(page, (tools) => tools.unfold())

/** What foreign text did to the page, or to a part of it. */
export const wrongsOn = (page, within = 'body') => inside(page, (tools, within) => tools.wrongs(within), within)

/**
 * Opens these requests one after the other with everything that is folded away. Gives for each what is wrong on the page, and
 * how many others stand under what the agent asked before.
 */
export const lookAtEach = (page, requests) =>
  inside(
    page,
    async (tools, ids) => {
      const found = []
      for (const id of ids) {
        // Laid out once, when all of it is there, and not with each part that arrives.
        document.body.style.contentVisibility = 'hidden'
        await tools.visit(id)
        await tools.unfold()
        document.body.style.contentVisibility = ''
        const earlier = [...document.querySelectorAll('[data-request] details')].find((one) => one.textContent.startsWith('›Earlier'))
        found.push({ wrongs: tools.wrongs(), earlier: new Set([...earlier.querySelectorAll('li a')].map((link) => link.pathname)).size })
      }
      return found
    },
    requests.map(({ id }) => id),
  )
