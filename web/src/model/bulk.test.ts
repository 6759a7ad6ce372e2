import { describe, expect, it } from 'vitest'
import { changeSince, inSeenOrder, type Choice } from './bulk'
import { beginning, foldAt, isShownWhole } from './fold'
import { isAlike, whyNotTogether } from './group'
import { testRequest as request } from './test_request'

const take = (one: ReturnType<typeof request>): Choice => ({ request: one, stance: 'take' })

describe('several at once (U1)', () => {
  const [a, b, c] = [request(), request(), request()]
  it('the second press sends what the first one saw, or nothing', () => {
    expect(changeSince([take(a), take(b)], [take(a), take(b)])).toBeNull()
    expect(changeSince([take(a)], [take(a), take(b), take(c)])).toBe('2 requests came meanwhile')
    expect(changeSince([take(a), take(b)], [take(b)])).toBe('1 request went meanwhile')
    expect(changeSince([take(a)], [take({ ...a, digest: 'sha256:1' })])).toBe('1 request changed meanwhile')
    expect(changeSince([take(a)], [{ request: a, stance: 'veto' }])).toBe('1 request changed meanwhile')
    expect(changeSince([take(a), take(b)], [take(b), take(c)])).toBe('1 request came, 1 request went meanwhile')
  })
  it('a row stays where it was seen; new ones come last', () => {
    expect(inSeenOrder([c, a, b], new Map([[a.id, 0], [b.id, 1]]))).toEqual([a, b, c])
    expect(inSeenOrder([c, a], new Map())).toEqual([c, a])
  })
  it('only what stands on the screen whole is decided with others', () => {
    const plan = { title: 'Clean up', steps: [{ order: 1, action: 'delete everything', optional: false }], modifiable: true }
    const irreversible = { ...request().risk, reversibility: 'irreversible' as const }
    expect(whyNotTogether(request())).toBeNull()
    expect(whyNotTogether(request({ kind: 'plan', plan }))).toMatch(/step by step/)
    expect(whyNotTogether(request({ kind: 'response', response: { text: 'x', format: 'text' } }))).toMatch(/as a whole/)
    expect(whyNotTogether(request({ kind: 'input' }))).toMatch(/own answer/)
    expect(whyNotTogether(request({ risk: irreversible }))).toMatch(/cannot be undone/)
    expect(whyNotTogether(request({ proposed: { amount: 1 } }))).toMatch(/changed/)
    expect(whyNotTogether(request({ requirement: { ...request().requirement, confirm: '123456' } }))).toMatch(/code/)
    expect(whyNotTogether(request({ args: { command: `${'x'.repeat(980)} && rm -rf /` } }))).toMatch(/too long/)
    expect(whyNotTogether(request({ args: { text: '\n'.repeat(200) } }))).toMatch(/too long/)
    expect(whyNotTogether(request({ args: { pin: 'make admin; wire 90000 EUR' } }))).toMatch(/masked/)
    expect(whyNotTogether(request({ args: { note: 'Bearer abcdef0123456789' } }))).toMatch(/masked/)
    expect(whyNotTogether(request({ args: { password: 'hunter2' } }))).toBeNull()
    expect(whyNotTogether(request({ args: { list: Array.from({ length: 61 }, () => 1) } }))).toMatch(/too long/)
  })
  it('whatever is folded counts as not shown', () => {
    for (const text of ['x'.repeat(1021), `${'line\n'.repeat(14)}${'y'.repeat(200)}`]) {
      expect(foldAt(text)).toBeLessThan(text.length)
      expect(isShownWhole({ deep: [{ text }] })).toBe(false)
    }
    expect(isShownWhole({ a: [1, null, 'x'.repeat(900)], b: {} })).toBe(true)
  })
  it('a text is never cut between the halves of one character', () => {
    expect(beginning('ab\u{1f600}c', 3)).toBe('ab')
    expect(beginning('ab\u{1f600}c', 4)).toBe('ab\u{1f600}')
    expect(beginning('ab\u{1f600}', 9)).toBe('ab\u{1f600}')
  })
  it('one table holds one tool of one agent at one risk', () => {
    expect(isAlike([a, b])).toBe(true)
    expect(isAlike([a, request({ agent: 'other-bot' })])).toBe(false)
    expect(isAlike([a, request({ tool: 'pay' })])).toBe(false)
    expect(isAlike([a, request({ risk: { ...a.risk, level: 'high' } })])).toBe(false)
    expect(isAlike([request({ kind: 'confirmation', action: undefined as never })])).toBe(false)
  })
})
