import { describe, expect, it } from 'vitest'
import { csvCell, fileName, toCsv, toJsonLines } from '../audit/export'
import { callOf, casesInOrder, readBacktest, readExplained, type Changed } from '../model/policy'
import { SseReader } from '../model/sse'
import { testRequest as request } from '../model/test_request'
import type { Event } from '../wire'
import { withRule } from './candidate'

describe('a request as a call', () => {
  it('names who asks, for whom, and what the agent claims', () => {
    const made = callOf(request({ user: 'ann', session: 's', task: 't', risk: { level: 'high', factors: [], consequences: [], reversibility: null, confidence: 0.5, claimed: { level: 'high' } } }))
    expect(made).toEqual({ tool: 'refund', args: { order: '1', amount: 24, currency: 'EUR' }, context: { agent: { id: 'billing-bot' }, user: { id: 'ann' }, session: 's', task: { id: 't' }, claims: { risk: 'high' }, confidence: 0.5 } })
  })
  it('is what was asked, also when people changed it', () => {
    expect(callOf(request({ proposed: { amount: 900 } }))).toMatchObject({ args: { amount: 900 } })
  })
  it('has an event for what is no action', () => {
    const { action: _, ...plan } = request({ kind: 'plan', plan: { title: 't', steps: [], modifiable: true } })
    expect(callOf(plan)).toMatchObject({ event: 'plan', plan: { title: 't' } })
  })
})

describe('what the server says', () => {
  it('is read even when parts are missing', () => {
    expect(readExplained({ kind: 'hold', risk: 'low' })).toMatchObject({ kind: 'hold', matched: [], near: [], values: {}, shell: null })
    expect(readBacktest(null)).toMatchObject({ calls: 0, dangerous: [] })
  })
  it('puts dangerous cases first and names none twice', () => {
    const one = (id: string): Changed => ({ id, tool: 't', before: 'hold', after: 'allow', outcome: null, rule: '', because: '' })
    const result = { ...readBacktest(null), changed: [one('a'), one('b'), one('c')], dangerous: [one('c')], now_denied: [one('b')] }
    expect(casesInOrder(result).map(({ kind, one: { id } }) => [kind, id])).toEqual([['dangerous', 'c'], ['now_denied', 'b'], ['changed', 'a']])
  })
})

describe('a suggested rule in a policy', () => {
  const rule = '- id: new\n  then: allow\n'
  it.each([
    ['rules:\n  - {id: a}\n', 'rules:\n  - {id: a}\n  - id: new\n    then: allow\n'],
    ['rules:\n- {id: a}\ntests: []\n', 'rules:\n- {id: a}\n- id: new\n  then: allow\ntests: []\n'],
    ['rules: # ours\n  - id: a\n    then: deny\n\n# next\ngates: {}\n', 'rules: # ours\n  - id: a\n    then: deny\n  - id: new\n    then: allow\n\n# next\ngates: {}\n'],
    ['policy: x\n', 'policy: x\nrules:\n  - id: new\n    then: allow\n'],
    ['rules: [{id: a}]\n', null],
  ])('goes to the end of the rules: %j', (before, after) => expect(withRule(before, rule)).toBe(after))
  it('is moved as far in as the others, however it came', () => expect(withRule('rules:\n  - {id: a}\n', '      - id: new\n        then: allow')).toBe('rules:\n  - {id: a}\n  - id: new\n    then: allow\n'))
})

describe('exports', () => {
  const event = (headline: string): Event => ({ seq: 7, type: 'request-settled', at: '2026-11-15T12:00:00.000Z', actor: 'ann', via: 'browser', address: '192.0.2.7', detail: { decision: 'reject', reason: 'not, today' }, request: request({ headline, outcome: 'approved' }) })
  it.each([['plain', 'plain'], ['a,b', '"a,b"'], ['say "no"', '"say ""no"""'], ['two\nlines', '"two\nlines"'], ['', ''], [null, ''], [12, '12']])('writes %j as a cell', (value, cell) => expect(csvCell(value)).toBe(cell))
  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1'])('keeps a spreadsheet from running %j', (value) => expect(csvCell(value)).toBe(`"'${value}"`))
  it('have one line for each event', () => {
    const lines = toCsv([event('a'), event('b')]).split('\r\n')
    expect(lines).toHaveLength(4)
    expect(lines[0]).toMatch(/^seq,at,event,actor,via,address,request,/)
    expect(lines[1]).toMatch(/^7,2026-11-15T12:00:00.000Z,request-settled,ann,browser,192.0.2.7,req_/)
    expect(lines[0]).toMatch(/,decided_by,reason,headline,/)
    expect(lines[1]).toContain(',"not, today",a,')
    const whole = event('a')
    expect(toJsonLines([whole]).trimEnd().split('\n').map((line) => JSON.parse(line) as Event)).toEqual([whole])
  })
  it('say in their names what they leave out', () => {
    const named = (from: number, is_filtered: boolean) => fileName(new Date('2026-11-15T12:00:00'), { from, is_filtered }, 'csv')
    expect(named(0, false)).toBe('holdpoint-2026-11-15.csv')
    expect(named(1234, false)).toBe('holdpoint-2026-11-15-after-1234.csv')
    expect(named(0, true)).toBe('holdpoint-2026-11-15-filtered.csv')
    expect(named(1234, true)).toBe('holdpoint-2026-11-15-after-1234-filtered.csv')
  })
})

describe('a stream in pieces', () => {
  it('gives events when they are whole, and no comments', () => {
    const reader = new SseReader()
    expect(reader.push('retry: 2000\n\nid: 1\nevent: x\nda')).toEqual([])
    expect(reader.push('ta: {"a":1}\n')).toEqual([])
    expect(reader.push('\n: still here\n\ndata: 2\r\ndata: 3\r\n\r\n')).toEqual([{ name: 'x', data: '{"a":1}' }, { name: 'message', data: '2\n3' }])
  })
})
