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

test('X1 what was told and tried out goes when another person signs in, and stays for the same one', async () => {
  const { client } = await import('../client')
  const { signIn, useSession } = await import('./session')
  const { tell, useNotices } = await import('./notices')
  const { useCandidate } = await import('../policy/candidate')
  vi.spyOn(client, 'signIn').mockResolvedValue({ undo_max_s: 5 } as never)
  const enter = async (id: string) => {
    vi.spyOn(client, 'me').mockResolvedValue({ id, name: id } as never)
    await signIn({ link: 'l' } as never)
  }
  await enter('usr_ann')
  tell('refund: not decided.', { tone: 'bad' })
  useCandidate.getState().put({ text: 'holdpoint: 1', since_s: 86_400 })
  const kept = () => [useNotices.getState().notices.length, useCandidate.getState().text, useCandidate.getState().since_s]
  for (const id of ['usr_ann', 'usr_bob']) {
    useSession.setState({ status: 'signed_out', me: null, was_ended: true }, true)
    await enter(id)
    expect(kept()).toEqual(id === 'usr_ann' ? [1, 'holdpoint: 1', 86_400] : [0, null, null])
  }
})
