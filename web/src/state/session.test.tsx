// @vitest-environment jsdom
import { act } from 'react'
import { createRoot } from 'react-dom/client'
import { expect, test, vi } from 'vitest'
import type { Me } from '../wire'

test('X1 a page that was begun while somebody was signed in is finished without an error after they are out', async () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true)
  const { useMe, useSession } = await import('./session')
  useSession.setState({ status: 'signed_in', me: { id: 'usr_1', name: 'ann' } as Me, undo_max_s: 5 }, true)
  const Name = () => <p>{useMe().name}</p>
  const place = document.createElement('div')
  const root = createRoot(place)
  // Nobody above takes it away, as while a slice is still on its way.
  await act(async () => root.render(<Name />))
  await act(async () => useSession.setState({ status: 'signed_out', me: null, was_ended: true }, true))
  expect(place.textContent).toBe('ann')
  await act(async () => root.unmount())
})
