import { describe, expect, it } from 'vitest'
import { conversationOf, sessionsOf } from './conversation'
import { testRequest as request } from './test_request'

const at = (second: number) => `2026-11-15T12:00:${String(second).padStart(2, '0')}.000Z`
const decided = (by: string, second: number, part = {}) => ({ kind: 'approve' as const, by, via: 'browser', at: at(second), note: null, reason: null, guidance: null, target: null, arguments: null, answer: null, ...part })

describe('a conversation', () => {
  it('goes from what the user wanted to what came of it', () => {
    const entries = conversationOf([
      request({
        created_at: at(1), user: 'ann', context: { user_prompt: 'Refund it', current_reasoning: 'The terms allow it.' }, state: 'settled', outcome: 'approved', settled_at: at(5),
        decision: decided('bob', 5, { note: 'checked' }), report: { success: true, result: { ok: 1 }, error: null, at: at(7) },
      }),
    ])
    expect(entries.map((entry) => entry.type)).toEqual(['user', 'agent', 'ask', 'person', 'result'])
    expect(entries[3]).toMatchObject({ by: 'bob', what: 'approved', text: 'checked' })
  })
  it('says once what the user wanted', () => {
    const context = { user_prompt: 'Clean up' }
    expect(conversationOf([request({ created_at: at(1), context }), request({ created_at: at(2), context }), request({ created_at: at(3), context: { user_prompt: 'Stop' } })]).filter((entry) => entry.type === 'user')).toHaveLength(2)
  })
  it('puts answers where they came, also when several calls were asked together', () => {
    const one = request({ created_at: at(1), state: 'settled', outcome: 'approved', settled_at: at(9), decision: decided('ann', 9) })
    const two = request({ created_at: at(2), state: 'settled', outcome: 'rejected', settled_at: at(4), decision: decided('bob', 4, { kind: 'reject', reason: 'no' }) })
    expect(conversationOf([two, one]).map((entry) => entry.key)).toEqual([one.id, two.id, `${two.id} decision`, `${one.id} decision`])
  })
  it('tells what needed nobody, and why', () => {
    const end = (part: Parameters<typeof request>[0]) => conversationOf([request({ state: 'settled', settled_at: at(2), created_at: at(1), ...part })]).at(-1)
    expect(end({ outcome: 'allowed', verdict: { kind: 'allow', rule: 'grant', gate: null, because: null, policy: null } })).toMatchObject({ type: 'event', text: 'passed by a grant, without asking' })
    expect(end({ outcome: 'denied', verdict: { kind: 'deny', rule: 'x', gate: null, because: 'never', policy: null } })).toMatchObject({ text: 'denied by policy: never', tone: 'bad' })
    expect(end({ outcome: 'expired' })).toMatchObject({ text: 'nobody decided in time', tone: 'bad' })
  })
  it('keeps the answer to a question', () => {
    const entry = conversationOf([request({ kind: 'input', state: 'settled', outcome: 'answered', settled_at: at(2), created_at: at(1), decision: decided('ann', 2, { kind: 'answer', answer: 'EUR' }) })]).at(-1)
    expect(entry).toMatchObject({ type: 'person', what: 'answered', answer: 'EUR' })
  })
})

describe('sessions', () => {
  it('are listed latest first, with what waits', () => {
    const found = sessionsOf([request({ session: 'a', created_at: at(1) }), request({ session: 'b', created_at: at(3), state: 'settled', outcome: 'approved' }), request({ session: 'a', created_at: at(2), context: { user_prompt: 'Refund' } }), request({ created_at: at(9) })])
    expect(found).toEqual([
      { session: 'b', agent: 'billing-bot', last_at: at(3), waiting: 0, title: '' },
      { session: 'a', agent: 'billing-bot', last_at: at(2), waiting: 2, title: 'Refund' },
    ])
  })
})
