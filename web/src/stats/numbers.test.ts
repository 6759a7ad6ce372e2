import { describe, expect, it } from 'vitest'
import { shares, slowest, sparedOf } from './numbers'

describe('numbers', () => {
  it('tell what needed nobody, and leave denials out', () => {
    const one = (outcome: string, rule: string | null = null) => ({ outcome, verdict: { kind: 'hold', rule } })
    expect(sparedOf([one('allowed'), one('allowed', 'grant'), one('allowed', 'trust'), one('allowed', 'small'), one('approved'), one('expired'), one('denied')])).toEqual({ by_policy: 2, by_grant: 1, by_trust: 1, asked: 2 })
  })
  it('cut each name by how it ended, the most frequent first', () => {
    expect(shares([{ name: 'a', key: 'x' }, { name: 'b', key: 'x' }, { name: 'b', key: 'y' }, { name: 'b', key: 'x' }], 1)).toEqual([{ name: 'b', total: 3, parts: [{ key: 'x', count: 2 }, { key: 'y', count: 1 }] }])
  })
  it('find what takes longest', () => {
    expect(slowest([{ name: 'a', span_ms: 10 }, { name: 'b', span_ms: 50 }, { name: 'a', span_ms: 30 }], 5)).toEqual([{ name: 'b', median_ms: 50, count: 1 }, { name: 'a', median_ms: 20, count: 2 }])
  })
})
