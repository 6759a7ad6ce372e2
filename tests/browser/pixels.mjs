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

/** Draws the list anew after the original, which is hidden: `values` has for each argument its parts, a string or a `{ mark }`. */
function draw(list, values) {
  return list.evaluate((element, values) => {
    const copy = element.cloneNode(true)
    for (const [i, row] of [...copy.children].entries()) {
      const parts = values[i].map((part) => {
        if (typeof part === 'string') return part
        const mark = document.createElement('span')
        mark.className = 'hidden-character'
        mark.textContent = part.mark
        return mark
      })
      row.querySelector('dd bdi').replaceChildren(...parts)
      // Whatever a raw value does to its own line, the next one stays where it is.
      row.style.height = `${element.children[i].getBoundingClientRect().height}px`
      row.style.overflow = 'hidden'
    }
    element.style.display = 'none'
    element.after(copy)
  }, values)
}

const erase = (list) =>
  list.evaluate((element) => {
    element.nextElementSibling.remove()
    element.style.display = ''
  })

/**
 * What the arguments of the open request look like, beside two other renderings of the same list with the same styles: the
 * text that must be seen, drawn without any code of the page, and the raw value. Gives for each argument in how many pixels
 * the page differs from either.
 */
export async function compareArguments(page, expected, raw) {
  const list = await page.locator('[data-request] dl').first().elementHandle()
  const { clip, boxes } = await list.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect()
    const boxes = [...element.children].map((row) => {
      const box = row.querySelector('dd').getBoundingClientRect()
      return { x: Math.round(box.left - left), y: Math.round(box.top - top), width: Math.floor(box.width), height: Math.floor(box.height) }
    })
    return { clip: { x: left, y: top, width, height }, boxes }
  })
  const shoot = () => page.screenshot({ clip, animations: 'disabled', caret: 'hide' })
  const shown = await shoot()
  await draw(list, expected)
  const wrong = await differences(shown, await shoot(), boxes)
  await erase(list)
  await draw(list, raw)
  const unmarked = await differences(shown, await shoot(), boxes)
  await erase(list)
  return { wrong, unmarked }
}
