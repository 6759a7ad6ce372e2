// The last step of a build: says what to embed, gathers the licences of what is inside, and refuses a page that breaks
// the promises of its Content-Security-Policy or has grown too heavy.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { filesOf } from './weight.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const script_bytes_max = 120 * 1024
const style_bytes_max = 14 * 1024

const types = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml',
  '.png': 'image/png', '.woff2': 'font/woff2', '.webmanifest': 'application/manifest+json', '.txt': 'text/plain; charset=utf-8',
}

const fail = (text) => {
  console.error(`web build: ${text}`)
  process.exit(1)
}
const filesIn = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)]))

function gatherLicences() {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  let out = 'The Holdpoint inbox contains these works, each under its own licence.\n'
  for (const name of [...Object.keys(dependencies), 'tailwindcss', 'scheduler', 'regexparam', 'mitt']) {
    const folder = join(root, 'node_modules', name)
    if (!existsSync(folder)) continue
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    out += `\n\n==== ${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`
  }
  writeFileSync(join(dist, 'licenses.txt'), out)
}

function checkPage() {
  const html = readFileSync(join(dist, 'index.html'), 'utf8')
  if (/<script(?![^>]*\ssrc=)[^>]*>/i.test(html)) fail('index.html has an inline script')
  if (/<style|\sstyle=|\son\w+=/i.test(html)) fail('index.html has inline styles or handlers')
  if (/https?:\/\//i.test(html)) fail('index.html points to another server')
}

function checkWeight(manifest) {
  const files = filesOf(manifest)
  const weigh = (names) => names.reduce((sum, name) => sum + gzipSync(readFileSync(join(dist, name)), { level: 9 }).length, 0)
  const [scripts, styles] = [weigh(files.scripts), weigh(files.styles)]
  const kib = (bytes) => (bytes / 1024).toFixed(1)
  console.log(`first load: ${kib(scripts)} KiB of script, ${kib(styles)} KiB of style (gzip)`)
  if (scripts > script_bytes_max) fail(`the first load has more than ${kib(script_bytes_max)} KiB of script`)
  if (styles > style_bytes_max) fail(`the first load has more than ${kib(style_bytes_max)} KiB of style`)
}

const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'))
rmSync(join(dist, '.vite'), { recursive: true })
rmSync(join(dist, 'embed.json'), { force: true })
gatherLicences()
checkPage()
checkWeight(manifest)

/** The service worker keeps every file of this build: each screen opens without a connection, and at once with one. */
function writeServiceWorker() {
  const hashed = filesIn(join(dist, 'assets')).map((file) => `/${relative(dist, file).replaceAll('\\', '/')}`)
  const shell = ['/', ...hashed, '/icon.svg']
  const version = createHash('sha256').update(readFileSync(join(dist, 'index.html'))).update(hashed.sort().join()).digest('hex').slice(0, 16)
  const source = readFileSync(join(root, 'sw/sw.js'), 'utf8')
  writeFileSync(join(dist, 'sw.js'), source.replace('__VERSION__', version).replace("['__SHELL__']", JSON.stringify(shell.sort())))
}
writeServiceWorker()

/** What a browser gets if it understands it: made once here, so that the server never compresses the page. */
function compress(file) {
  const bytes = readFileSync(file)
  const forms = {
    br: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
    gzip: gzipSync(bytes, { level: 9 }),
  }
  const found = {}
  for (const [name, form] of Object.entries(forms)) {
    if (form.length > bytes.length * 0.9) continue
    const path = `${file}.${name === 'br' ? 'br' : 'gz'}`
    writeFileSync(path, form)
    found[name] = { file: relative(dist, path).replaceAll('\\', '/'), bytes: form.length }
  }
  return found
}

const files = filesIn(dist)
  .map((file) => {
    const path = relative(dist, file).replaceAll('\\', '/')
    const type = types[extname(file)] ?? fail(`no media type for ${path}`)
    // Hashed names never change their content; everything else is asked for again each time.
    const cache = path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
    const etag = `"${createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 32)}"`
    return { path: `/${path}`, file: path, type, cache, etag, bytes: statSync(file).size, encodings: compress(file) }
  })
  .sort((a, b) => (a.path < b.path ? -1 : 1))

writeFileSync(
  join(dist, 'embed.json'),
  JSON.stringify(
    {
      // These addresses all answer with index.html.
      pages: ['/', '/sign-in', '/r/{id}', '/chat', '/history', '/grants', '/policy', '/stats', '/audit', '/people', '/settings'],
      headers: JSON.parse(readFileSync(join(root, 'headers.json'), 'utf8')),
      files,
    },
    null,
    2,
  ) + '\n',
)
