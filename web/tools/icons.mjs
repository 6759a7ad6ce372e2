// Draws the bitmap icons from public/icon.svg with a browser; run by hand when the mark changes.
import { readFileSync } from 'node:fs'
import { chromium } from 'playwright-core'

const folder = new URL('../public/', import.meta.url)
const svg = readFileSync(new URL('icon.svg', folder), 'utf8')
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
const page = await browser.newPage()
for (const [name, size, is_maskable] of [['icon-192', 192, false], ['icon-512', 512, false], ['icon-maskable', 512, true]]) {
  await page.setViewportSize({ width: size, height: size })
  // A maskable icon fills its square: the system cuts its own corners, so the mark keeps to the middle.
  const drawn = is_maskable ? svg.replace('rx="14" ', '').replace('viewBox="0 0 64 64"', 'viewBox="-8 -8 80 80"').replace('<rect width="64" height="64"', '<rect x="-8" y="-8" width="80" height="80"') : svg
  await page.setContent(`<body style="margin:0;background:transparent">${drawn.replace('<svg ', `<svg width="${size}" height="${size}" style="display:block" `)}</body>`)
  await page.screenshot({ path: new URL(`${name}.png`, folder).pathname, omitBackground: true })
}
await browser.close()
