// A shop with a policy, people, agents and a past: what the pages about policy, grants and the record are tried on.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const policy = `holdpoint: 1
policy: shop
extends: standard

tools:
  find_order: {read_only: true, risk: low, args: {order: string}}
  refund:                          # money leaves the house
    destructive: true
    risk: medium
    args: {order: string, amount: number, currency: string}
    message: "Refund {{args.amount}} {{args.currency}} for order {{args.order}}"
  run: {risk: medium, destructive: true, args: {command: string}, shell: {arg: command}}
  wipe: {destructive: true, risk: critical, args: {database: string}}

approvers:
  finance: {roles: [finance]}

gates:
  refunds: {type: specific_tools, tools: [refund], because: "refunds are looked at by a person"}
  plans: {type: plan_approval}
  answers: {type: final_response}

rules:
  - {id: large, tools: [refund], when: args.amount > 500, then: require, gate: refunds, approvers: [{group: finance}], because: finance looks at large sums}
  - {id: stolen, tools: [refund], when: "args.currency == 'XXX'", then: deny, because: there is no such currency}

grants:
  offer: [similar, session]
  max_ttl: 4h
  max_uses: 10
  max_sum: 500
  max_risk: high
  similar:
    refund: {pin: [args.currency], bound: {args.amount: {at_most: approved}}}
    run: {argv_prefix: true}

tests:
  - {name: large ones ask, call: {tool: refund, args: {order: "1", amount: 501, currency: EUR}}, expect: {decision: require, rule: large}}
`

/** The policy as a file, for \`--policy\`. */
export function policyFile(text = policy) {
  const file = join(mkdtempSync(join(tmpdir(), 'holdpoint-policy-')), 'policy.yaml')
  writeFileSync(file, text)
  return file
}

/** One conversation about a customer: a draft that is corrected, a refund that is refused and asked for again. */
export async function fillTalk(agent, person) {
  const session = 'ticket-8830'
  const ask = (tool, args, reasoning, more = {}) => agent.act(tool, args, { session, user: 'M. Okafor', context: { user_prompt: 'The lamp arrived broken, and I need one by Friday. What can you do?', current_reasoning: reasoning }, ...more })
  const found = await ask('find_order', { order: '1234' }, 'I look the order up first.')
  await agent.post(`/v1/requests/${found.id}/report`, { success: true, result: { order: '1234', paid: 48, ordered: '12 days ago' } })
  await person.decide(await ask('refund', { order: '1234', amount: 480, currency: 'EUR' }, 'The photos show the damage; our terms allow a full refund.'), 'reject', { reason: 'She paid 48, not 480. Look at the order again.' })
  const right = await ask('refund', { order: '1234', amount: 48, currency: 'EUR' }, 'You are right, I read a zero too many. This is what she paid.')
  await person.decide(right, 'approve')
  await agent.post(`/v1/requests/${right.id}/report`, { success: true, result: { refund: 'r-1234', arrives: 'in two days' } })
  await agent.act('send_replacement', { order: '1234', service: 'express', cost: 12.9 }, { session, user: 'M. Okafor', risk: 'medium', context: { user_prompt: 'The lamp arrived broken, and I need one by Friday. What can you do?', current_reasoning: 'The money is on its way. With express a new lamp is there on Thursday.' } })
  return session
}

/** People, two agents, and a morning of refunds: most approved, one rejected, one changed. */
export async function fillShop(server) {
  const billing = await server.agent('billing-bot')
  const deploy = await server.agent('deploy-bot')
  const ann = await server.person('ann', { groups: ['finance'] })
  const bob = await server.person('bob')
  const refund = (order, amount, more = {}) => billing.act('refund', { order, amount, currency: 'EUR' }, { session: 'ticket-8812', ...more })
  for (const [order, amount] of [['1187', 24], ['1190', 18.5], ['1204', 12], ['1211', 20], ['1213', 9], ['1219', 24]]) await ann.decide(await refund(order, amount), 'approve')
  await ann.decide(await refund('1220', 480), 'reject', { reason: 'This order was refunded yesterday.' })
  await bob.decide(await refund('1221', 19), 'modify', { arguments: { order: '1221', amount: 9, currency: 'EUR' } })
  await billing.act('find_order', { order: '1187' })
  await billing.act('find_order', { order: '1188' })
  await billing.act('refund', { order: '1', amount: 2, currency: 'XXX' })
  return { billing, deploy, ann, bob, refund }
}
