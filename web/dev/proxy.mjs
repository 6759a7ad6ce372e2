// Serves the built page with its headers and passes everything else to a server, so that both have one origin.
//
//     node dev/proxy.mjs [--listen 127.0.0.1:7481] [--server http://127.0.0.1:7480]
//
// Only for development and tests: the binary serves the same files itself.
import { createReadStream, readFileSync } from 'node:fs'
import { createServer, request as callServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const dist = fileURLToPath(new URL('../dist', import.meta.url))

/** Starts it; answers with the server once it listens. */
export async function startProxy({ port, host = '127.0.0.1', server }) {
  const { pages, headers, files } = JSON.parse(readFileSync(join(dist, 'embed.json'), 'utf8'))
  const byPath = new Map(files.map((file) => [file.path, file]))
  const index = byPath.get('/index.html')
  const isPage = (path) => pages.includes(path) || /^\/r\/[^/]+$/.test(path)

  const serve = (request, response, file) => {
    const head = { ...headers, 'Content-Type': file.type, 'Cache-Control': file.cache, ETag: file.etag, Vary: 'Accept-Encoding' }
    if (request.headers['if-none-match'] === file.etag) return response.writeHead(304, head).end()
    const accepted = String(request.headers['accept-encoding'] ?? '').split(/[\s,;]+/)
    const encoding = ['br', 'gzip'].find((name) => accepted.includes(name) && file.encodings[name])
    const form = encoding ? file.encodings[encoding] : file
    response.writeHead(200, { ...head, 'Content-Length': form.bytes, ...(encoding ? { 'Content-Encoding': encoding } : {}) })
    createReadStream(join(dist, form.file)).pipe(response)
  }
  const pass = (request, response) => {
    const target = new URL(server)
    // The Host stays as the browser sent it: the server compares it with the Origin.
    const call = callServer({ host: target.hostname, port: target.port, path: request.url, method: request.method, headers: request.headers })
    call.on('response', (answer) => {
      response.writeHead(answer.statusCode, answer.headers)
      response.flushHeaders()
      answer.pipe(response)
      answer.on('error', () => response.destroy())
    })
    call.on('error', () => {
      if (response.headersSent) return response.destroy()
      response.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '1' })
      response.end('{"error":{"code":"unavailable","message":"the server behind the proxy does not answer"}}')
    })
    response.on('close', () => call.destroy())
    request.pipe(call)
  }
  const proxy = createServer((request, response) => {
    const path = new URL(request.url, 'http://localhost').pathname
    const file = byPath.get(path) ?? (isPage(path) ? index : undefined)
    if (file && request.method === 'GET') serve(request, response, file)
    else pass(request, response)
  })
  await new Promise((resolve) => proxy.listen(port, host, resolve))
  return proxy
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { listen: { type: 'string', default: '127.0.0.1:7481' }, server: { type: 'string', default: 'http://127.0.0.1:7480' } },
  })
  const [host, port] = values.listen.split(':')
  await startProxy({ host, port: Number(port), server: values.server })
  console.log(`the inbox is at http://${values.listen}, in front of ${values.server}`)
}
