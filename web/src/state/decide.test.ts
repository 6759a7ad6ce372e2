// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { client } from '../client'
import { ServerError, Unreachable } from '../errors'
import { testRequest } from '../model/test_request'
import type { Me, Request } from '../wire'
import { decide, decideTogether } from './decide'
import { useInbox } from './inbox'
import { tell, useNotices } from './notices'
import { useSession } from './session'
import { holdFor, offerUndo, undo, undoLatest } from './undo'

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

it('D5 it says to whom something was escalated, a group or people', async () => {
  const [one] = requests as [Request]
  const said = async (line: Partial<Request['requirement']['lines'][number]>) => {
    useNotices.setState({ notices: [] })
    const lines = [{ group: null, people: null, quorum: 1, have: 0, ...line }]
    vi.spyOn(client, 'decide').mockResolvedValue({ ...one, requirement: { ...one.requirement, lines } })
    await decide(one, { decision: 'escalate', to: 'x' })
    await vi.waitUntil(() => isAnswered(one))
    return texts().at(-1)
  }
  expect(await said({ group: 'finance' })).toMatch(/: escalated to finance$/)
  expect(await said({ people: ['bob'] })).toMatch(/: escalated to bob$/)
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

it.each([['approve', '2 more people are needed'], ['reject', 'it still waits']] as const)('D10 after a vote to %s that settles nothing: %s', async (decision, rest) => {
  const lines = [{ ...requests[0]!.requirement.lines[0]!, quorum: 3, have: 1 }]
  const waits = testRequest({ requirement: { ...requests[0]!.requirement, lines, reject_threshold: 2 } })
  vi.spyOn(client, 'decide').mockResolvedValue(waits)
  await decide(waits, { decision })
  expect(texts()).toEqual([expect.stringMatching(new RegExp(`: your vote counts; ${rest}$`))])
})

const refusal = { code: 'refused', message: 'this server holds a decision for 2 s at most', field: 'undo_s' } as const
const risky = testRequest({ risk: { ...requests[0]!.risk, level: 'high' } })

it.each([[2, 2], [0, undefined], [30, undefined]])('refused because the server was started anew and holds %j s at most, a decision asks for %j, and so does the next', async (undo_max_s, asked) => {
  useSession.setState({ status: 'signed_in', me: { id: 'usr_1', name: 'ann' } as Me, undo_max_s: 30 }, true)
  vi.spyOn(client, 'session').mockResolvedValue({ undo_max_s } as never)
  vi.spyOn(client, 'me').mockResolvedValue({ id: 'usr_1', name: 'ann' } as never)
  const send = vi.spyOn(client, 'decide').mockRejectedValueOnce(new ServerError(422, refusal)).mockResolvedValue(risky)
  expect(await decide(risky, { decision: 'approve' })).toBe(true)
  expect(send.mock.calls.map(([, call]) => call.undo_s)).toEqual([5, asked])
  expect(holdFor({ decision: 'approve' }, [risky])).toBe(Math.min(5, undo_max_s) || null)
})

it('so do several, and those that were not refused are not sent again', async () => {
  useSession.setState({ status: 'signed_in', me: { id: 'usr_1', name: 'ann' } as Me, undo_max_s: 30 }, true)
  vi.spyOn(client, 'session').mockResolvedValue({ undo_max_s: 2 } as never)
  vi.spyOn(client, 'me').mockResolvedValue({ id: 'usr_1', name: 'ann' } as never)
  const [one, two] = requests as [Request, Request]
  const send = vi.spyOn(client, 'decideMany')
  send.mockResolvedValueOnce({ results: [{ status: 200, request: one }, { status: 422, error: { ...refusal, field: 'decisions[1].undo_s' } }] } as never)
  send.mockResolvedValueOnce({ results: [{ status: 200, request: two }] } as never)
  const { done } = await decideTogether([one, two].map((request) => ({ request, call: { decision: 'approve' } })))
  expect(done).toBe(2)
  expect(send.mock.calls.map(([decisions]) => decisions.map(({ id, undo_s }) => [id, undo_s]))).toEqual([[[one.id, 5], [two.id, 5]], [[two.id, 2]]])
})

it('a change that the server takes only with a code is asked about, and told as failed only if nobody is there to type it', async () => {
  const [one] = requests as [Request]
  const refused = new ServerError(422, { code: 'refused', message: 'as you changed it this takes a confirmation code', field: 'confirm', confirm: '123456' })
  vi.spyOn(client, 'decide').mockRejectedValue(refused)
  const ask = vi.fn(() => true)
  expect(await decide(one, { decision: 'modify', arguments: {} }, ask)).toBe(false)
  expect(ask.mock.calls).toEqual([['123456']])
  expect(texts()).toEqual([])
  await vi.waitUntil(() => isAnswered(one))
  expect(await decide(one, { decision: 'modify', arguments: {}, confirm: '123456' }, ask)).toBe(false)
  expect(ask).toHaveBeenCalledTimes(1)
  expect(texts()).toEqual([expect.stringContaining('not decided')])
  await vi.waitUntil(() => isAnswered(one))
  expect(await decide(one, { decision: 'modify', arguments: {} }, () => false)).toBe(false)
  expect(texts()).toHaveLength(2)
})

it('what was confirmed is not held', () => {
  useSession.setState({ status: 'signed_in', me: { name: 'ann' } as Me, undo_max_s: 30 }, true)
  expect(holdFor({ decision: 'modify' }, [risky])).toBe(5)
  expect(holdFor({ decision: 'modify', confirm: '123456' }, [risky])).toBeNull()
})

it('D8 what is answered at critical risk, where no code is asked, is held as at high risk', () => {
  useSession.setState({ status: 'signed_in', me: { name: 'ann' } as Me, undo_max_s: 30 }, true)
  const question = testRequest({ kind: 'input', risk: { ...requests[0]!.risk, level: 'critical' } })
  expect(holdFor({ decision: 'answer' }, [question])).toBe(5)
})

describe('taking back', () => {
  const held = requests.map((request): Request => ({ ...request, held: [{ by: 'ann', decision: 'approve', until: new Date(Date.now() + 5000).toISOString() }] as NonNullable<Request['held']> }))
  beforeEach(() => {
    useSession.setState({ status: 'signed_in', me: { id: 'usr_1', name: 'ann' } as Me, undo_max_s: 30 }, true)
    useInbox.setState({ requests: new Map(held.map((request) => [request.id, request])) })
    offerUndo('3 requests', 'approve', held)
  })
  it('several go back at once, and are told of once', async () => {
    const answers: (() => void)[] = []
    const send = vi.spyOn(client, 'undo').mockImplementation((id) => new Promise((resolve) => answers.push(() => resolve(requests.find((request) => request.id === id)!))))
    undoLatest()
    expect(send).toHaveBeenCalledTimes(3)
    answers.forEach((answer) => answer())
    await vi.waitUntil(() => texts().length > 0)
    expect(texts()).toEqual(['3 requests taken back; they wait again'])
  })
  it('those that could not be are told of once too', async () => {
    vi.spyOn(client, 'undo').mockImplementation((id) => (id === requests[0]!.id ? Promise.resolve(requests[0]!) : Promise.reject(new Unreachable())))
    undoLatest()
    await vi.waitUntil(() => texts().length > 1)
    expect(texts()).toEqual(['1 request taken back; it waits again', '2 requests not taken back. The server does not answer.'])
  })
  it('those that could not be are tried again, all of them and no others', async () => {
    const send = vi.spyOn(client, 'undo').mockRejectedValue(new Unreachable())
    undoLatest()
    await vi.waitUntil(() => texts().some((text) => text.startsWith('3 requests not taken back')))
    send.mockClear()
    send.mockImplementation((id) => (id === requests[0]!.id ? Promise.resolve(requests[0]!) : Promise.reject(new Unreachable())))
    undoLatest()
    expect(send).toHaveBeenCalledTimes(3)
    await vi.waitUntil(() => texts().some((text) => text.startsWith('2 requests not taken back')))
    undoLatest()
    expect(send.mock.calls.slice(3)).toEqual([[requests[1]!.id], [requests[2]!.id]])
  })
  it('after a failure, what was decided meanwhile is taken back first', async () => {
    let fail = () => {}
    const send = vi.spyOn(client, 'undo').mockImplementation(() => new Promise((_, reject) => (fail = () => reject(new Unreachable()))))
    void undo(requests[0]!.id)
    offerUndo('one', 'approve', held.slice(1, 2))
    fail()
    await vi.waitUntil(() => texts().some((text) => text.includes('does not answer')))
    undoLatest()
    expect(send.mock.calls).toEqual([[requests[0]!.id], [requests[1]!.id]])
  })
  it('a later success leaves the button, and what was taken back is not offered any more', async () => {
    tell('Five more minutes.', { tone: 'good' })
    tell('Ten more minutes.', { tone: 'good' })
    expect(texts()).toEqual(['3 requests: approved; they take effect in 5 s', 'Ten more minutes.'])
    useNotices.setState({ notices: [] })
    offerUndo('one', 'approve', held.slice(0, 1))
    vi.spyOn(client, 'undo').mockResolvedValue(requests[0]!)
    await undo(requests[0]!.id, () => undefined)
    expect(texts()).toEqual([expect.stringContaining('taken back; it waits again')])
  })
  it('a failure that nobody has read outlasts what can be taken back', () => {
    useNotices.setState({ notices: [] })
    for (const what of ['mail', 'wire', 'fax']) tell(`${what}: not decided.`, { tone: 'bad' })
    for (const what of ['one', 'two', 'three', 'four', 'five']) offerUndo(what, 'approve', held)
    expect(texts().map((text) => text.split(':')[0])).toEqual(['mail', 'wire', 'fax', 'two', 'three', 'four', 'five'])
  })
})

describe('an answer that does not come (H7)', () => {
  const mine = (request: Request): Request => ({ ...request, state: 'settled', outcome: 'approved', decision: { by: 'ann', kind: 'approve', at: new Date().toISOString() } as Request['decision'] })
  const bobs = (request: Request): Request => ({ ...request, state: 'settled', outcome: 'rejected', decision: { by: 'bob', kind: 'reject', at: new Date().toISOString() } as Request['decision'] })
  const [one, two, three] = requests as [Request, Request, Request]
  const approve = { decision: 'approve' as const }
  beforeEach(() => {
    useSession.setState({ status: 'signed_in', me: { name: 'ann' } as Me, undo_max_s: 0 }, true)
    vi.spyOn(client, 'decide').mockRejectedValue(new Unreachable())
    vi.spyOn(client, 'decideMany').mockRejectedValue(new Unreachable())
  })
  it('what counted is told as decided', async () => {
    vi.spyOn(client, 'request').mockResolvedValue(mine(one))
    expect(await decide(one, approve)).toBe(true)
    expect(texts()).toEqual([expect.stringMatching(/: approved/)])
  })
  it('what somebody else decided meanwhile is told as theirs, what still waits as waiting, and what nobody knows as unknown', async () => {
    const read = vi.spyOn(client, 'request').mockResolvedValue(bobs(one))
    expect(await decide(one, approve)).toBe(false)
    read.mockResolvedValue(one)
    await vi.waitUntil(() => isAnswered(one))
    await decide(one, approve)
    read.mockRejectedValue(new Unreachable())
    await vi.waitUntil(() => isAnswered(one))
    await decide(one, approve)
    expect(texts()).toEqual([expect.stringMatching(/not your decision\. bob rejected this/), expect.stringMatching(/not decided\. The server does not answer\.$/), expect.stringMatching(/: no answer came; it may have counted\.$/)])
  })
  it('each of several is told as it stands', async () => {
    vi.spyOn(client, 'request').mockImplementation((id) => (id === one.id ? Promise.resolve(mine(one)) : id === two.id ? Promise.resolve(two) : Promise.reject(new Unreachable())))
    const { done, failed } = await decideTogether([one, two, three].map((request) => ({ request, call: approve })))
    expect([done, failed.length]).toEqual([1, 2])
    expect(texts()).toEqual([expect.stringMatching(/^1 request decided/), expect.stringMatching(/not decided\. The server does not answer\.$/), expect.stringMatching(/may have counted\.$/)])
  })
  it('a repeated decision of one’s own is no conflict', async () => {
    const refused = (request: Request) => ({ status: 409, error: { code: 'conflict', message: 'already approved by ann', request } })
    vi.spyOn(client, 'decideMany').mockResolvedValue({ results: [refused(mine(one)), refused(bobs(two))] } as never)
    const { done, failed } = await decideTogether([one, two].map((request) => ({ request, call: approve })))
    expect([done, failed.map(({ request }) => request.id)]).toEqual([1, [two.id]])
    vi.spyOn(client, 'decide').mockRejectedValue(new ServerError(409, { code: 'conflict', message: 'already approved by ann', request: mine(three) }))
    expect(await decide(three, approve)).toBe(true)
  })
})
