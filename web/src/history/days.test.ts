import { afterEach, describe, expect, it, vi } from 'vitest'
import { fileName } from '../audit/export'
import { sinceDay, untilDay } from './days'

afterEach(() => vi.unstubAllEnvs())

describe('a day of a person', () => {
  it.each([
    ['UTC', '2026-11-18', '2026-11-18T00:00:00.000Z', '2026-11-19T00:00:00.000Z'],
    ['America/Los_Angeles', '2026-11-18', '2026-11-18T08:00:00.000Z', '2026-11-19T08:00:00.000Z'],
    ['Pacific/Kiritimati', '2026-11-18', '2026-11-17T10:00:00.000Z', '2026-11-18T10:00:00.000Z'],
    ['Asia/Kathmandu', '2026-12-31', '2026-12-30T18:15:00.000Z', '2026-12-31T18:15:00.000Z'],
    // 23 and 25 hours.
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    // Clocks skip midnight, of this day and of the next, and show the last hour twice.
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z', '2026-04-24T21:00:00.000Z'],
    ['Africa/Cairo', '2026-04-23', '2026-04-22T22:00:00.000Z', '2026-04-23T22:00:00.000Z'],
    ['Africa/Cairo', '2026-10-29', '2026-10-28T21:00:00.000Z', '2026-10-29T22:00:00.000Z'],
  ])('in %s %s begins at %s and is over at %s', (zone, day, begin, end) => {
    vi.stubEnv('TZ', zone)
    expect([sinceDay(day), untilDay(day)]).toEqual([begin, end])
  })

  it.each(['', '2026', '2026-02-30', '2026-13-01', '2026-1-1', 'today', '2026-11-18T00:00:00Z'])('%j is none', (text) => {
    expect([sinceDay(text), untilDay(text)]).toEqual([null, null])
  })

  it.each([['America/Los_Angeles', 'holdpoint-2026-11-17.csv'], ['Asia/Tokyo', 'holdpoint-2026-11-18.csv']])('names what is taken away in %s %s', (zone, name) => {
    vi.stubEnv('TZ', zone)
    const now = new Date(zone === 'Asia/Tokyo' ? '2026-11-17T20:00:00Z' : '2026-11-18T05:00:00Z')
    expect(fileName(now, { from: 0, is_filtered: false }, 'csv')).toBe(name)
  })
})
