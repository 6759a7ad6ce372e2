import { expect, it } from 'vitest'
import { numbersFirst } from './title'

it('H6 numbers stand first in a row, and nothing within a text counts as one', () => {
  expect(numbersFirst('orderId: "1234", amount: 240')).toBe('amount: 240, orderId: "1234"')
  expect(numbersFirst('note: "a, amount: 5, b", amount: -2.5e3')).toBe('amount: -2.5e3, note: "a, amount: 5, b"')
  expect(numbersFirst('note: "a \\", amount: 5", of: {a: 1, b: 2}, n: 1')).toBe('n: 1, note: "a \\", amount: 5", of: {a: 1, b: 2}')
  expect(numbersFirst('command: "cut off, n: 1')).toBe('command: "cut off, n: 1')
  expect(numbersFirst('')).toBe('')
})
