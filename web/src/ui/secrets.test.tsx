import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { excerptsOf } from '../model/excerpt'
import { changes } from '../model/json'
import { hidesMuch } from '../model/marked_text'
import { findSecrets, mask, maskSecrets } from '../model/secrets'
import { testRequest } from '../model/test_request'
import { ChangeList } from '../request/diff_view'
import type { Json, Request } from '../wire'
import { JsonView } from './json_view'
import { Title } from './title'

const textOf = (markup: string): string => markup.replace(/<[^>]*>/g, '').replaceAll('&quot;', '"').replaceAll('&#x27;', "'")
const view = (value: Json, name = ''): string => textOf(renderToStaticMarkup(<JsonView value={value} name={name} />))
const diff = (before: Json, after: Json): string => textOf(renderToStaticMarkup(<ChangeList changes={changes(before, after)} />))
const title = (part: Parameters<typeof testRequest>[0]): string => textOf(renderToStaticMarkup(<Title request={testRequest(part)} />))

describe('what stands under a secret name is not on the screen (H6)', () => {
  it.each<[string, Json]>([
    ['a list', { passwords: ['hunter2', 'hunter3'] }],
    ['a tree', { credentials: { user: { value: 'hunter2' } } }],
    ['a list of trees', { api_keys: [{ of: 'prod', value: 'hunter2' }] }],
    ['a text', { password: 'hunter2' }],
  ])('%s', (_, value) => {
    expect(view(value)).not.toMatch(/hunter/)
    expect(view(value)).toContain(mask)
    expect(diff({}, value)).not.toMatch(/hunter/)
    expect(diff({ all: {} }, { all: value })).not.toMatch(/hunter/)
  })
  it('a number', () => {
    expect(view({ pin: 1234 })).toBe(`pin${mask} 4 characters show`)
    expect(view([1234], 'pin')).not.toContain('1234')
    expect(diff({ pin: 1234 }, { pin: 5678 })).toBe(`pin "${mask}" → "${mask}"`)
    expect(diff({ passwords: ['a', 'hunter2'] }, { passwords: ['a', 'hunter3'] })).not.toMatch(/hunter/)
  })
  it('what is no secret is shown, and so is that there is none', () => {
    expect(view({ amount: 1234, password: null, has_password: true, token: '' })).toMatch(/1234.*null.*true.*""/)
    expect(maskSecrets({ a: [1, 'x'], __proto__: null })).toEqual({ a: [1, 'x'] })
    expect(maskSecrets(JSON.parse('{"__proto__": {"password": "x"}}') as Json)).toEqual(JSON.parse(`{"__proto__": {"password": "${mask}"}}`))
  })
})

describe('one line of a request (H6)', () => {
  const call = (inner: string) => title({ tool: 'connect', headline: `connect(${inner})` })
  it.each(['password: "hunter2"', 'db: "x", clientSecret: "hunter2"', 'pin: 1234, amount: 5', 'password: "hun\\"ter2"', 'passwords: "hunter2 and then it is cut', 'authorization: "hunter2"', 'url: "postgres://ann:hunter2@db/x"', 'text: "Bearer hunter2hunter2"', 'key: "ghp_abcdefghij\u200bklmnopqrstuvhunter2"'])('masks what is secret in %j', (inner) => {
    expect(call(inner)).toContain(mask)
    expect(call(inner)).not.toMatch(/hunter|1234|ter2/)
  })
  it('leaves the rest as it is', () => {
    expect(call('amount: 24, currency: "EUR", max_tokens: 5')).toBe('connect amount: 24, max_tokens: 5, currency: "EUR"')
    expect(call(`password: ${mask}, x: 1`)).toBe(`connect x: 1, password: ${mask}`)
  })
  it('masks sentences, questions and answers, also where they are cut', () => {
    const secret = `sk-${'a'.repeat(40)}`
    const texts: Partial<Request>[] = [
      { headline: `Sends ${secret} to bob` },
      { kind: 'input', input: { question: `${'x'.repeat(190)} ${secret}`, type: 'text', required: true } },
      { kind: 'response', response: { text: `${'x'.repeat(197)} ${secret}`, format: 'text' } },
    ]
    for (const part of texts) expect(title(part)).not.toMatch(/sk-|aaa/)
  })
})

describe('a change in a long value (H6)', () => {
  const long = 'word '.repeat(300)
  it('shows what changed, wherever it stands', () => {
    const shown = diff({ body: `${long}pay bob${long}` }, { body: `${long}pay eve${long}` })
    expect(shown).toMatch(/pay bob.*→.*pay eve/)
    expect(shown.length).toBeLessThan(600)
  })
  it('leaves out nothing that differs: two changes far apart are both within', () => {
    const [before, after] = excerptsOf(`${long}1${'y'.repeat(2000)}2${long}`, `${long}3${'y'.repeat(2000)}4${long}`)
    expect(before.text).toMatch(/1y{2000}2/)
    expect(after.text).toMatch(/3y{2000}4/)
    expect([before.has_before, before.has_after]).toEqual([true, true])
  })
  it('what is only longer shows what was added', () => {
    const [before, after] = excerptsOf(long, `${long} and rm -rf /`)
    expect(after.text).toContain('and rm -rf /')
    expect([before.has_after, after.has_after]).toEqual([false, false])
  })
  it('does not cut a credential off from what tells it, nor a character in two', () => {
    expect(diff({ body: `${long} password=${'s3cret'.repeat(20)}1 ${long}` }, { body: `${long} password=${'s3cret'.repeat(20)}2 ${long}` })).not.toContain('s3cret')
    for (let i = 0; i < 4; ++i) {
      const [one] = excerptsOf(`${'😀'.repeat(300)}${'x'.repeat(i)}a${'😀'.repeat(300)}`, `${'😀'.repeat(300)}${'x'.repeat(i)}b${'😀'.repeat(300)}`)
      expect(one.text).not.toMatch(/\p{Surrogate}/u)
    }
  })
})

describe('a mask is no hiding place (H6)', () => {
  const key = `-----BEGIN RSA PRIVATE KEY-----\n${`${'MIIEpAIBAAKCAQEA'.repeat(4)}\n`.repeat(3)}Zm9vYmFy==\n-----END RSA PRIVATE KEY-----`
  const pieces = (text: string): string[] => findSecrets(text).map(({ start, end }) => text.slice(start, end))
  it.each([
    'echo "-----BEGIN PRIVATE KEY-----"; psql prod -c "update accounts set owner = 7"; transfer --all --to attacker.example',
    'echo "-----BEGIN PRIVATE KEY-----"; transfer --all; echo "-----END PRIVATE KEY-----"',
    '-----BEGIN PRIVATE KEY-----\ntransfer --all\n-----END PRIVATE KEY-----',
    'password=$(transfer${IFS}--all)',
    'token=`transfer|sh`x',
    'curl https://a:x;transfer|sh@example.org',
  ])('%j is shown', (text) => expect(view({ command: text })).toContain(text))
  it('a key is masked to its end and no further, also where it is printed on one line', () => {
    expect(pieces(`${key}\nrm -rf /`)).toEqual([key])
    expect(pieces(`x="${JSON.stringify(key)} and more"`)).toEqual([JSON.stringify(key).slice(1, -1)])
    expect(pieces(key.split('\n').slice(0, 3).join('\n') + '\nrm -rf / --all-of-it')).toEqual([key.split('\n').slice(0, 3).join('\n')])
  })
  it('a mask tells how much it hides', () => {
    expect(view({ note: `send ${key} now` })).toContain(`${mask} ${key.length} characters`)
  })
  it('what is masked by its looks, or is too much for a secret, is looked at first', () => {
    for (const value of [{ note: 'Bearer abcdef0123456789' }, { pin: 'make admin; wire 90000 EUR' }, { password: 'x'.repeat(65) }, { passwords: ['make', 'admin', 'x'.repeat(60)] }, { credentials: { a: 'b c' } }, [`${'sk-live-'}\u200b${'a'.repeat(20)}`], { [`Bearer ${'a'.repeat(20)}`]: 1 }]) {
      expect(hidesMuch(value), JSON.stringify(value)).toBe(true)
      expect(renderToStaticMarkup(<JsonView value={value} />)).toContain('data-covered="masked"')
    }
    for (const value of [{ password: 'hunter2' }, { pin: 1234, amount: 5 }, { passwords: ['a', 'b'] }, 'plain words']) {
      expect(hidesMuch(value), JSON.stringify(value)).toBe(false)
      expect(renderToStaticMarkup(<JsonView value={value} />)).not.toContain('data-covered')
    }
  })
})
