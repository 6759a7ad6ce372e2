import { describe, expect, it } from 'vitest'
import { browserName } from '../state/push'
import { fromBase64Url, toBase64Url } from './base64url'
import { visibleJson } from './hidden'
import { nextReturn, snoozeChoices, snoozedUntil } from './snooze'
import { testRequest as request } from './test_request'
import { formatMoment } from './time'
import { claimedRisk, grouped } from './words'

const now = Date.parse('2026-11-15T12:00:00.000Z')
const at = (seconds: number) => new Date(now + seconds * 1000).toISOString()

describe('what is put off', () => {
  it('is out of sight until then', () => {
    const one = request({ expires_at: at(7200), snoozed_until: at(600) })
    expect(snoozedUntil(one, now)).toBe(now + 600_000)
    expect(snoozedUntil(one, now + 600_000)).toBeNull()
    expect(snoozedUntil(request({ expires_at: at(7200) }), now)).toBeNull()
  })
  it('is back two minutes before it expires', () => {
    const one = request({ expires_at: at(300), snoozed_until: at(3600) })
    expect(snoozedUntil(one, now)).toBe(now + 180_000)
    expect(snoozedUntil(request({ expires_at: at(119), snoozed_until: at(3600) }), now)).toBeNull()
  })
  it('is over when somebody decides', () => expect(snoozedUntil(request({ state: 'settled', snoozed_until: at(60) }), now)).toBeNull())
  it('says when the next one is back', () => {
    const some = [request({ expires_at: at(7200), snoozed_until: at(600) }), request({ expires_at: at(7200), snoozed_until: at(60) }), request({ expires_at: at(7200) })]
    expect(nextReturn(some, now)).toBe(now + 60_000)
    expect(nextReturn([], now)).toBe(Infinity)
  })
  it('offers times that lie ahead', () => {
    for (const hour of [0, 8, 15, 16, 23]) {
      const moment = new Date(2026, 10, 15, hour, 30)
      for (const { until } of snoozeChoices(moment)) expect(until.getTime()).toBeGreaterThan(moment.getTime())
    }
  })
})

describe('numbers and times', () => {
  it.each([[0, '0'], [999, '999'], [1000, '1,000'], [41200, '41,200'], [1234567, '1,234,567']])('%d is written %s', (count, text) => expect(grouped(count)).toBe(text))
  it('tells the date unless it is today', () => {
    const moment = new Date(2026, 8, 5, 7, 4, 9)
    expect(formatMoment(moment.toISOString(), moment.getTime() + 1000)).toBe('07:04:09')
    expect(formatMoment(moment.toISOString(), moment.getTime() + 86_400_000)).toBe('5 Sep 2026, 07:04:09')
  })
})

describe('JSON that is shown to be changed', () => {
  it.each([['a\u202eb\u200b'], ['\u{e0041}x'], ['plain "quoted" \n ü 中'], ['👩‍👩‍👧']])('means the same: %j', (text) => expect(JSON.parse(visibleJson({ [text]: [text] }))).toEqual({ [text]: [text] }))
  it('hides nothing', () => expect(visibleJson('a\u202eb')).toBe('"a\\u202eb"'))
})

describe('bytes and names', () => {
  it.each([[[]], [[0]], [[255, 254, 253]], [[1, 2, 3, 4, 250]]])('come back as they were: %j', (bytes) => expect([...fromBase64Url(toBase64Url(new Uint8Array(bytes)))]).toEqual(bytes))
  it('are written without what addresses cannot hold', () => expect(toBase64Url(new Uint8Array([251, 255, 191]))).toBe('-_-_'))
  it.each([
    ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36', 'Chrome on Linux'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Mobile/15E148 Safari/604.1', 'Safari on iOS'],
    ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:153.0) Gecko/20100101 Firefox/153.0', 'Firefox on Windows'],
    ['curl/8', 'Browser'],
  ])('of browsers are short: %s', (agent, name) => expect(browserName(agent)).toBe(name))
})

describe('what an agent says about the risk', () => {
  it('is told apart from what the server found', () => {
    expect(claimedRisk({ level: 'high', reversibility: 'irreversible', factors: ['large'], consequences: ['gone', 7] })).toBe('high risk\ncannot be undone\nlarge\ngone')
    expect(claimedRisk('low')).toBe('low risk')
    expect([claimedRisk(null), claimedRisk([]), claimedRisk({})]).toEqual([null, null, null])
  })
})
