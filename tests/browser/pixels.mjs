// Pictures of what is on the screen, compared pixel by pixel; a browser page does the arithmetic.
import { launch } from './harness.mjs'

let desk = null

/** In how many pixels two pictures of one size differ, within each of `boxes` (in pixels of the pictures). */
export async function differences(before, after, boxes) {
  desk ??= await (await (await launch()).newContext()).newPage()
  return desk.evaluate(
    async ({ pictures, boxes }) => {
      const [a, b] = await Promise.all(
        pictures.map(async (text) => {
          const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${text}`)).blob())
          const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d', { willReadFrequently: true })
          canvas.drawImage(bitmap, 0, 0)
          return canvas
        }),
      )
      return boxes.map(({ x, y, width, height }) => {
        const [one, two] = [a, b].map((canvas) => new Uint32Array(canvas.getImageData(x, y, width, height).data.buffer))
        return one.reduce((sum, pixel, i) => sum + (pixel === two[i] ? 0 : 1), 0)
      })
    },
    { pictures: [before, after].map((picture) => picture.toString('base64')), boxes },
  )
}

/**
 * Draws what is asked anew after the original, which is hidden: each of `fields` with other `parts`, a string or a `{ mark }`.
 * Gives where the texts stand on the page.
 */
function draw(content, fields) {
  return content.evaluate((element, fields) => {
    const copy = element.cloneNode(true)
    // Whatever a raw text does to its own line, the next one stays where it is.
    const keep = (from, to) => {
      const { width, height } = from.getBoundingClientRect()
      Object.assign(to.style, { boxSizing: 'border-box', flex: 'none', width: `${width}px`, minWidth: '0', height: `${height}px`, overflow: 'hidden' })
    }
    for (const { where, nth, parts } of fields) {
      const [from, to] = [element, copy].map((root) => root.querySelectorAll(where)[nth])
      to.replaceChildren(
        ...parts.map((part) => {
          if (typeof part === 'string') return part
          const mark = document.createElement('span')
          mark.className = 'hidden-character'
          mark.textContent = part.mark
          return mark
        }),
      )
      keep(from.closest('dt, dd, h1, p'), to.closest('dt, dd, h1, p'))
    }
    element.style.display = 'none'
    element.after(copy)
  }, fields)
}

const erase = (content) =>
  content.evaluate((element) => {
    element.nextElementSibling.remove()
    element.style.display = ''
  })

/**
 * What texts of the open request look like, beside two other renderings with the same styles: the text that must be seen, drawn
 * without any code of the page, and the raw one. Each of `fields` is the `nth` text at the selector `where`, with the parts
 * `expected` and `raw`. Gives for each in how many pixels the page differs from either.
 */
export async function compareTexts(page, fields) {
  const content = await page.locator('[data-request] [role=region] > div').first().elementHandle()
  const { clip, boxes } = await content.evaluate((element, fields) => {
    const found = fields.map(({ where, nth }) => element.querySelectorAll(where)[nth].closest('dt, dd, h1, p').getBoundingClientRect())
    const [left, top] = ['left', 'top'].map((side) => Math.floor(Math.min(...found.map((box) => box[side]))))
    const [right, bottom] = ['right', 'bottom'].map((side) => Math.ceil(Math.max(...found.map((box) => box[side]))))
    if (top < 0 || bottom > innerHeight) throw new Error('the window is too small to see all of it')
    const boxes = found.map((box) => ({ x: Math.round(box.left - left), y: Math.round(box.top - top), width: Math.floor(box.width), height: Math.floor(box.height) }))
    return { clip: { x: left, y: top, width: right - left, height: bottom - top }, boxes }
  }, fields)
  const shoot = () => page.screenshot({ clip, animations: 'disabled', caret: 'hide' })
  const shown = await shoot()
  const differencesWith = async (kind) => {
    await draw(content, fields.map((field) => ({ ...field, parts: field[kind] })))
    const found = await differences(shown, await shoot(), boxes)
    await erase(content)
    return found
  }
  return { wrong: await differencesWith('expected'), unmarked: await differencesWith('raw') }
}
