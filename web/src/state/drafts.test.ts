// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from 'vitest'
import type { Me } from '../wire'

const request = { id: 'req_1', digest: 'sha256:1' }
const signedIn = (id: string) => ({ status: 'signed_in', me: { id, name: id } as Me, undo_max_s: 5 }) as const

beforeEach(() => vi.resetModules())

test('H6 what somebody began stays theirs when the connection comes back, also where this file was fetched after they signed in', async () => {
  const { useSession } = await import('./session')
  useSession.setState(signedIn('ann'), true)
  const { keepDraft, readDraft } = await import('./drafts')
  keepDraft(request, 'veto', 'too much')
  useSession.setState(signedIn('ann'), true)
  expect(readDraft(request, 'veto', null)).toBe('too much')
})

test('X1 somebody else who signs in finds nothing that was begun', async () => {
  const { useSession } = await import('./session')
  useSession.setState(signedIn('ann'), true)
  const { keepDraft, readDraft } = await import('./drafts')
  keepDraft(request, 'note', 'mine')
  useSession.setState(signedIn('bob'), true)
  expect(readDraft(request, 'note', null)).toBeNull()
  keepDraft(request, 'note', 'his')
  useSession.setState({ status: 'signed_out', me: null, was_ended: false }, true)
  expect(readDraft(request, 'note', null)).toBeNull()
})
