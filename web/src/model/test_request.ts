// Requests for tests: one call makes a whole one, and says only what matters.
import type { Json, Request } from '../wire'

let count = 0

export function testRequest(part: Partial<Request> & { tool?: string; args?: Record<string, Json> } = {}): Request {
  const { tool = 'refund', args = { order: '1', amount: 24, currency: 'EUR' }, ...more } = part
  return {
    id: `req_${String(++count).padStart(26, '0')}`, kind: 'action', state: 'pending', outcome: null, session: null, thread: null, task: null, user: null,
    agent: 'billing-bot', owner: null, batch: null, action: { tool, arguments: args, type: 'tool_call' }, proposed: null, headline: `${tool}()`,
    risk: { level: 'medium', factors: [], consequences: [], reversibility: null, confidence: null, claimed: null },
    verdict: { kind: 'hold', rule: null, gate: null, because: null, policy: null },
    requirement: { lines: [{ group: null, people: null, quorum: 1, have: 0 }], reject_threshold: 1, reason_required: false, modifiable: true, exclude_requester: false, confirm: null },
    votes: [], digest: `sha256:${'0'.repeat(64)}`, created_at: '2026-11-15T11:59:00.000Z', expires_at: '2026-11-15T12:59:00.000Z', settled_at: null,
    on_timeout: 'reject', timed_out: null, reminders: { every_s: null, max: 3, sent: 0 }, escalation: { after_s: null, to: null, done: false }, retries: { max: 1, done: 0 },
    context: null, suggested: null, metadata: null, decision: null, release: null, message_for_agent: null, report: null, url: '/r/x', ...more,
  }
}
