// The push service that Firefox keeps a WebSocket to, and to which our server posts: it passes sealed messages on and can
// read none of them. Only as much of the protocol as Firefox speaks with it.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'

const magic = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** A text frame; what is said here is never longer than two bytes of length can say. */
function frame(text) {
  const body = Buffer.from(text)
  const head = body.length < 126 ? Buffer.from([0x81, body.length]) : Buffer.from([0x81, 126, body.length >> 8, body.length & 255])
  return Buffer.concat([head, body])
}

/** The frames that are whole, unmasked, and what is left. */
function* frames(buffer) {
  while (buffer.length >= 2) {
    const short = buffer[1] & 127
    const at = short === 126 ? 4 : 2
    if (short === 127) throw new Error('a frame that is too long')
    if (buffer.length < at + 4) break
    const size = short === 126 ? buffer.readUInt16BE(2) : short
    if (buffer.length < at + 4 + size) break
    const mask = buffer.subarray(at, at + 4)
    const body = Buffer.from(buffer.subarray(at + 4, at + 4 + size).map((byte, i) => byte ^ mask[i & 3]))
    yield { opcode: buffer[0] & 15, text: body.toString() }
    buffer = buffer.subarray(at + 4 + size)
  }
  return buffer
}

export class AutoPush {
  /** What Firefox said became of each message: 100 delivered, 101 could not be opened. */
  acks = []
  posted = 0
  channels = new Map()

  async start() {
    this.server = createServer(async (request, answer) => {
      const parts = []
      for await (const part of request) parts.push(part)
      const channelID = this.channels.get(request.url)
      if (!channelID || !this.socket) return answer.writeHead(404).end()
      ++this.posted
      this.say({ messageType: 'notification', channelID, version: randomUUID(), data: Buffer.concat(parts).toString('base64url'), headers: { encoding: request.headers['content-encoding'] } })
      answer.writeHead(201).end()
    })
    this.server.on('upgrade', (request, socket) => {
      const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + magic).digest('base64')
      const protocol = request.headers['sec-websocket-protocol']
      socket.write(['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`, ...(protocol ? [`Sec-WebSocket-Protocol: ${protocol}`] : []), '', ''].join('\r\n'))
      this.socket = socket
      let rest = Buffer.alloc(0)
      socket.on('error', () => undefined)
      socket.on('data', (data) => {
        const found = frames(Buffer.concat([rest, data]))
        let next = found.next()
        for (; !next.done; next = found.next()) if (next.value.opcode === 1) this.hear(JSON.parse(next.value.text))
        rest = next.value
      })
    })
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    this.port = this.server.address().port
    return this
  }

  say(message) {
    this.socket.write(frame(JSON.stringify(message)))
  }

  hear(message) {
    const { messageType, channelID, uaid } = message
    if (messageType === 'hello') this.say({ messageType, uaid: uaid || randomBytes(16).toString('hex'), status: 200, use_webpush: true, broadcasts: {} })
    else if (messageType === 'register') {
      const path = `/p/${randomBytes(12).toString('hex')}`
      this.channels.set(path, channelID)
      this.say({ messageType, channelID, status: 200, pushEndpoint: `http://127.0.0.1:${this.port}${path}` })
    } else if (messageType === 'unregister') this.say({ messageType, channelID, status: 200 })
    else if (messageType === 'ack') this.acks.push(...message.updates.map((one) => one.code))
    else if (!messageType) this.socket.write(frame('{}'))
  }

  stop() {
    this.socket?.destroy()
    this.server.closeAllConnections()
    this.server.close()
  }
}
