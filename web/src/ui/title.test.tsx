import { expect, it } from 'vitest'
import { weightiestFirst } from './title'

it('H6 what is dangerous stands first in a row, then numbers, and nothing within a text counts as one', () => {
  expect(weightiestFirst('orderId: "1234", amount: 240')).toBe('amount: 240, orderId: "1234"')
  expect(weightiestFirst('note: "a, amount: 5, b", amount: -2.5e3')).toBe('amount: -2.5e3, note: "a, amount: 5, b"')
  expect(weightiestFirst('note: "a \\", amount: 5", of: {a: 1, b: 2}, n: 1')).toBe('n: 1, note: "a \\", amount: 5", of: {a: 1, b: 2}')
  expect(weightiestFirst('command: "cut off, n: 1')).toBe('command: "cut off, n: 1')
  expect(weightiestFirst('host: "db-1", timeout: 60, command: "sudo rm -rf /srv"')).toBe('command: "sudo rm -rf /srv", timeout: 60, host: "db-1"')
  expect(weightiestFirst('')).toBe('')
})
