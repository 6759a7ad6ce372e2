// Days of a person, as moments for the server. A day is as long as clocks make it where that person is: 23 or 25 hours twice a year.

/** When a day such as `2026-11-18` begins here, or null where that is none. */
function beginningOf(day: string): Date | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) return null
  // Without an offset it is read as local time; where clocks skip midnight, as the first moment after it.
  const begins = new Date(`${day}T00:00:00`)
  return begins.getDate() === Number(day.slice(8)) ? begins : null
}

/** The first moment of a day. */
export const sinceDay = (day: string): string | null => beginningOf(day)?.toISOString() ?? null

/** The first moment after a day: what happened before it is of that day or older. */
export function untilDay(day: string): string | null {
  const end = beginningOf(day)
  if (!end) return null
  end.setDate(end.getDate() + 1)
  // Where clocks skipped midnight, that day began later than the next one.
  end.setHours(0, 0, 0, 0)
  return end.toISOString()
}
