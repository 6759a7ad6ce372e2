// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { client } from '../client'
import { testRequest } from '../model/test_request'
import type { Me, Request } from '../wire'
import { decide, decideTogether } from './decide'
import { useInbox } from './inbox'
import { useNotices } from './notices'
import { useSession } from './session'
import { holdFor } from './undo'

const requests = [testRequest(), testRequest(), testRequest()]
const settled = (request: Request): Request => ({ ...request, state: 'settled', outcome: 'rejected' })
const isUndecided = ({ id }: Request): boolean => useInbox.getState().requests.get(id)?.state === 'pending' && !useInbox.getState().deciding.has(id)
const isAnswered = ({ id }: Request): boolean => !useInbox.getState().deciding.has(id)
const texts = (): string[] => useNotices.getState().notices.map((notice) => notice.text)

beforeEach(() => {
  vi.stubGlobal('requestAnimationFrame', (then: () => void) => setTimeout(then, 16))
  useInbox.setState({ requests: new Map(requests.map((request) => [request.id, request])), deciding: new Map(), connection: 'live', is_complete: true })
  useNotices.setState({ notices: [] })
})
afterEach(() => vi.restoreAllMocks())

/** How often one of them looked undecided since. */
function watch(watched: Request[]): () => number {
  let times = 0
  const end = useInbox.subscribe(() => void (times += watched.some(isUndecided) ? 1 : 0))
  return () => (end(), times)
}

it('a decided request looks undecided at no time', async () => {
  const [one] = requests as [Request]
  vi.spyOn(client, 'decide').mockResolvedValue(settled(one))
  const undecided = watch([one])
  await decide(one, { decision: 'reject' })
  await vi.waitUntil(() => isAnswered(one))
  expect(undecided()).toBe(0)
  expect(texts()).toEqual([expect.stringContaining('2 requests left')])
})

it('nor do several that were decided together, and they are not counted as left', async () => {
  const two = requests.slice(0, 2)
  vi.spyOn(client, 'decideMany').mockResolvedValue({ results: two.map((request) => ({ status: 200, request: settled(request) })) } as never)
  const undecided = watch(two)
  await decideTogether(two.map((request) => ({ request, call: { decision: 'reject' } })))
  await vi.waitUntil(() => two.every(isAnswered))
  expect(undecided()).toBe(0)
  expect(texts()).toEqual(['2 requests decided · 1 request left'])
})

it('one that could not be decided can be tried again', async () => {
  const [one] = requests as [Request]
  vi.spyOn(client, 'decide').mockRejectedValue(new Error('no way'))
  expect(await decide(one, { decision: 'reject' })).toBe(false)
  await vi.waitUntil(() => isUndecided(one))
})

it('nothing is said about what is left while the list is being read', async () => {
  const [one] = requests as [Request]
  useInbox.setState({ is_complete: false })
  vi.spyOn(client, 'decide').mockResolvedValue(settled(one))
  await decide(one, { decision: 'reject' })
  expect(texts()).toEqual([expect.not.stringMatching(/left|waits/)])
})

it.each([[30, 5], [5, 5], [3, 3], [1, 1], [0, null]])('where the server holds %j s at most, a decision asks for %j', (undo_max_s, asked) => {
  useSession.setState({ status: 'signed_in', me: { name: 'ann' } as Me, undo_max_s }, true)
  expect(holdFor({ decision: 'approve' }, requests)).toBe(asked)
  expect(holdFor({ decision: 'reject' }, requests)).toBeNull()
})
