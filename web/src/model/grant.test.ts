import { describe, expect, it } from 'vitest'
import { coverageOf, durationWord, hypothetical, offerFor, plainWords, scopeOf, scopeWords, wireTerms, wouldCover, type Terms } from './grant'
import { durationOf, ownText, readPolicyText } from './policy_text'
import { testRequest as request } from './test_request'

const text = `policy: shop
extends: standard
tools:
  refund: {risk: medium, args: {amount: number}}
  run: {risk: medium, args: {command: string}, shell: {arg: command}}
grants:
  offer: [similar, session]
  max_ttl: 1h30m
  max_uses: 10
  max_sum: 500
  max_risk: high
  similar:
    refund: {pin: [agent.id, args.currency], bound: {args.amount: {at_most: approved}}}
    run: {argv_prefix: true}
rules:
  - {id: large, tools: [refund], when: args.amount > 500, then: require}
`
const rules = readPolicyText(text).grants!
const terms: Terms = { for_s: 3600, uses: 5, sum: 100, session: false, words: null }

describe('policy text', () => {
  it('finds the parts and the lines they stand on', () => {
    const { parts } = readPolicyText(text)
    expect(parts.map((part) => [part.section, part.name, part.effect, part.from])).toEqual([
      ['tools', 'refund', null, 4], ['tools', 'run', null, 5], ['grants', 'grants', null, 6], ['rules', 'large', 'require', 16],
    ])
  })
  it('reads what a policy extends as a document of its own, and takes the nearest grants', () => {
    const read = readPolicyText(`${text}\0policy: standard\ngrants: {offer: [session]}\ngates: {all: {type: tool_execution}}\n`)
    expect(read.documents.map((one) => one.name)).toEqual(['shop', 'standard'])
    expect(read.grants?.offer).toEqual(['similar', 'session'])
    expect(read.parts.find((part) => part.name === 'all')).toMatchObject({ document: 1, from: 3 })
    expect(ownText(`a: 1\n\0b: 2\n`)).toBe('a: 1\n')
  })
  it('promises nothing when it cannot be read', () => {
    const read = readPolicyText('grants: {offer: [similar\n')
    expect(read.error).not.toBeNull()
    expect(read.grants).toBeNull()
    expect(readPolicyText(null)).toMatchObject({ parts: [], grants: null, error: null })
  })
  it('does not follow aliases: a few lines could become gigabytes', () => {
    expect(readPolicyText('a: &a [1]\ngrants: {offer: *a}\n').grants).toBeNull()
  })
  it.each([['30s', 30], ['1h30m', 5400], ['14d', 1_209_600], ['', null], ['1 h', null], ['h', null]])('reads the duration %j', (given, seconds) => expect(durationOf(given)).toBe(seconds))
  it('takes the defaults of the policy language', () => {
    expect(readPolicyText('grants: {offer: [similar]}').grants).toMatchObject({ ttl_max_s: 3600, uses_max: 10, sum_max: null, risk_max: 'medium' })
    expect(readPolicyText('grants: {offer: [similar], max_risk: none}').grants?.risk_max).toBeNull()
  })
})

describe('what can be granted', () => {
  const why = (part: Parameters<typeof request>[0]) => {
    const offer = offerFor(request(part), rules)
    return offer.can ? null : offer.why
  }
  it('is an action within the risk that the policy caps', () => {
    expect(why({})).toBeNull()
    expect(why({ kind: 'plan' })).toMatch(/only actions/)
    expect(why({ risk: { level: 'critical', factors: [], consequences: [], reversibility: null, confidence: null, claimed: null } })).toMatch(/critical risk/)
  })
  it('needs what is pinned and bounded', () => {
    expect(why({ args: { amount: 24 } })).toMatch(/args.currency is not in this call/)
    expect(why({ args: { amount: '24', currency: 'EUR' } })).toMatch(/not a number/)
  })
  it('needs a policy that offers it', () => {
    expect(offerFor(request(), null)).toEqual({ can: false, why: 'the policy offers no grants' })
    const session_only = { ...rules, offer: ['session'] }
    expect(offerFor(request(), session_only).can).toBe(false)
    expect(offerFor(request({ session: 's' }), session_only)).toMatchObject({ can: true, similar: false, session: true })
  })
  it('offers the first words of a plain command only', () => {
    expect(offerFor(request({ tool: 'run', args: { command: 'git push origin main' } }), rules)).toMatchObject({ words_max: 4 })
    expect(offerFor(request({ tool: 'run', args: { command: 'git push; rm x' } }), rules)).toMatchObject({ words_max: null })
  })
  it.each([['a b  c', ['a', 'b', 'c']], ['a $b', null], ['a; b', null], ["a 'b'", null], ['A=1 b', null], ['a | b', null], ['a\nb', null], ['a *', null]])('reads the words of %j', (command, words) => expect(plainWords(command)).toEqual(words))
})

describe('what a grant would cover', () => {
  const scope = scopeOf(request(), rules, terms)
  const covers = (part: Parameters<typeof request>[0]) => wouldCover(scope, request(part))
  it('is the same with at most the approved amount', () => {
    expect(covers({ args: { order: '2', amount: 24, currency: 'EUR' } })).toBe(true)
    expect(covers({ args: { order: '2', amount: 24.01, currency: 'EUR' } })).toBe(false)
    expect(covers({ args: { order: '2', amount: -1, currency: 'EUR' } })).toBe(false)
    expect(covers({ args: { order: '2', amount: 1, currency: 'USD' } })).toBe(false)
    expect(covers({ agent: 'other' })).toBe(false)
    expect(covers({ tool: 'other' })).toBe(false)
    expect(covers({ risk: { level: 'high', factors: [], consequences: [], reversibility: null, confidence: null, claimed: null } })).toBe(false)
  })
  it('stays in its session where the person says so', () => {
    const own = scopeOf(request({ session: 'a' }), rules, { ...terms, session: true })
    expect(wouldCover(own, request({ session: 'a' }))).toBe(true)
    expect(wouldCover(own, request({ session: 'b' }))).toBe(false)
  })
  it('judges what was asked, not what people made of it', () => {
    expect(covers({ args: { order: '2', amount: 9, currency: 'EUR' }, proposed: { order: '2', amount: 900, currency: 'EUR' } })).toBe(false)
  })
  it('is exactly these arguments where the policy says nothing else', () => {
    const exact = scopeOf(request({ tool: 'wipe', args: { a: 1 } }), rules, terms)
    expect(wouldCover(exact, request({ tool: 'wipe', args: { a: 1 } }))).toBe(true)
    expect(wouldCover(exact, request({ tool: 'wipe', args: { a: 1, b: 2 } }))).toBe(false)
  })
  it('is a whole command, or one that begins alike', () => {
    const run = (command: string) => request({ tool: 'run', args: { command } })
    const whole = scopeOf(run('git push origin a'), rules, terms)
    expect([wouldCover(whole, run('git push origin a')), wouldCover(whole, run('git push origin b'))]).toEqual([true, false])
    const prefix = scopeOf(run('git push origin a'), rules, { ...terms, words: 2 })
    expect([wouldCover(prefix, run('git push origin b')), wouldCover(prefix, run('git pull')), wouldCover(prefix, run('git push; id'))]).toEqual([true, false, false])
  })
  it('counts what people refused or changed among it, and leaves the request itself out', () => {
    const self = request()
    const past = [self, request({ outcome: 'approved' }), request({ outcome: 'rejected' }), request({ outcome: 'modified' }), request({ args: { order: '9', amount: 99, currency: 'EUR' }, outcome: 'approved' })]
    const found = coverageOf(scope, past, self.id)
    expect([found.of, found.covered.length, found.refused.length, found.sum]).toEqual([4, 3, 2, 72])
  })
})

describe('the words and the wire', () => {
  it('say what it covers', () => {
    expect(scopeWords(scopeOf(request(), rules, terms), terms)).toBe('For 1 hour, billing-bot may run “refund” with currency "EUR" and amount at most 24, up to 5 times, 100 in total, without asking.')
    expect(durationWord(900)).toBe('15 minutes')
    expect(durationWord(5400)).toBe('1.5 hours')
    expect(durationWord(172_800)).toBe('2 days')
  })
  it('send only what was chosen', () => {
    expect(wireTerms({ ...terms, sum: null })).toEqual({ for_s: 3600, uses: 5 })
    expect(wireTerms({ ...terms, session: true, words: 2 })).toEqual({ for_s: 3600, uses: 5, sum: 100, session: true, words: 2 })
  })
  it('ask the server about the very call', () => {
    expect(hypothetical(scopeOf(request(), rules, terms))).toEqual({ tool: 'refund', pins: { 'args.currency': 'EUR' }, at_most: { 'args.amount': 24 } })
    expect(hypothetical(scopeOf(request({ tool: 'run', args: { command: 'ls; id' } }), rules, terms))).toBeNull()
  })
})
