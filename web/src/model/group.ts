// Which requests ask for the same with other values, and in which values they differ.
import type { Json, Request } from '../wire'
import { isShownWhole } from './fold'
import { hidesMuch } from './marked_text'
import { changes, entriesOf, isObject, printPath, type Path } from './json'
import { reversibilityOf } from './words'

export const group_min = 3
export const bulk_max = 20

/** Which members of which types a value has; of a list only that it is one. */
export function shapeOf(value: Json): string {
  if (Array.isArray(value)) return '[]'
  if (isObject(value)) return `{${entriesOf(value).map(([name, item]) => `${JSON.stringify(name)}:${shapeOf(item)}`).join()}}`
  return value === null ? 'null' : typeof value
}

const keys = new WeakMap<Request, string>()

/**
 * Equal for requests of one agent for one tool, held by one rule at one risk, with arguments of one shape. What is decided alone is
 * like nothing else: in a group there would be nothing to do with it.
 */
export function groupKey(request: Request): string {
  let key = keys.get(request)
  if (key === undefined) {
    key = request.action && whyNotTogether(request) === null
      ? JSON.stringify([request.agent, request.action.tool, request.risk.level, request.verdict.rule, shapeOf(request.action.arguments)])
      : request.id
    keys.set(request, key)
  }
  return key
}

/** So many characters of one request stand beside others and are still read. */
const together_max = 1000

/** What a table shows of a request, beside its name. */
const contentOf = (request: Request): Json => request.action?.arguments ?? { message: request.confirmation?.message ?? '', details: request.confirmation?.details ?? null }

/** Only what can be taken back, is not critical, and stands on the screen whole may be decided with others at once. */
export function whyNotTogether(request: Request): string | null {
  switch (request.kind) {
    case 'input':
      return 'a question needs its own answer'
    case 'plan':
      return 'a plan is read step by step: decide it alone'
    case 'response':
      return 'an answer is read as a whole: decide it alone'
    case 'action':
    case 'confirmation':
      break
  }
  if (request.risk.level === 'critical') return 'critical: decide it alone'
  if (request.requirement.confirm !== null) return 'needs its own code: decide it alone'
  if (reversibilityOf(request) === 'irreversible') return 'cannot be undone: decide it alone'
  if (request.confirmation && (request.confirmation.confirm_label !== 'Confirm' || request.confirmation.cancel_label !== 'Cancel')) return 'its buttons have words of their own: decide it alone'
  if (request.proposed !== null) return 'somebody changed it: decide it alone'
  const content = contentOf(request)
  if (!isShownWhole(content) || JSON.stringify(content).length > together_max) return 'too long to read beside others: decide it alone'
  if (hidesMuch([request.action?.tool ?? '', content])) return 'something in it is masked: decide it alone'
  return null
}

export type Row = { type: 'one'; id: string; request: Request } | { type: 'group'; id: string; requests: Request[] }

/** The rows of the list. A group stands where its most pressing member stood. */
export function rowsOf(requests: Request[], is_grouping: boolean): Row[] {
  const groups = new Map<string, Request[]>()
  if (is_grouping)
    for (const request of requests) {
      const key = groupKey(request)
      const members = groups.get(key)
      if (members) members.push(request)
      else groups.set(key, [request])
    }
  const rows: Row[] = []
  for (const request of requests) {
    const key = is_grouping ? groupKey(request) : ''
    const members = groups.get(key)
    if (!members || members.length < group_min) rows.push({ type: 'one', id: request.id, request })
    else if (members[0] === request) rows.push({ type: 'group', id: `group ${key}`, requests: members })
  }
  return rows
}

export type Column = { path: Path; name: string }

/** True for requests that one table can hold: one agent, one tool, one risk; the rest are columns. */
export function isAlike(requests: Request[]): boolean {
  const nameOf = ({ agent, action, risk }: Request) => JSON.stringify([agent, action!.tool, risk.level])
  return requests.every((request) => request.action) && new Set(requests.map(nameOf)).size === 1
}

/** The arguments in which these requests differ, and those they share. */
export function columnsOf(requests: Request[]): { differing: Column[]; shared: { name: string; value: Json }[] } {
  const first = requests[0]?.action?.arguments
  if (!first) return { differing: [], shared: [] }
  const names = new Map<string, Column>()
  for (const request of requests.slice(1))
    for (const change of changes(first, request.action?.arguments ?? {})) {
      const path = change.path.slice(0, 1)
      const name = printPath(path)
      if (!names.has(name)) names.set(name, { path, name })
    }
  const shared = entriesOf(first)
    .filter(([name]) => !names.has(printPath([name])))
    .map(([name, value]) => ({ name, value }))
  return { differing: [...names.values()], shared }
}
