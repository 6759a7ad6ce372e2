// What “approve similar ones for a while” would mean for a request, and what it would have covered lately. The server has
// the last word on every call; a preview only repeats its rules on what the list gave.
import type { GrantTerms, Json, JsonObject, Request, RiskLevel } from '../wire'
import { isObject, isSame, shortJson } from './json'
import type { GrantRules } from './policy_text'
import { riskRank } from './words'

/** What a person chose; nothing means as much as the policy gives. */
export type Terms = { for_s: number; uses: number; sum: number | null; session: boolean; words: number | null }

export type Scope = {
  agent: string
  tool: string
  session: string | null
  pins: { path: string; value: Json }[]
  bounds: { path: string; at_most: number }[]
  /** A command, whole or by its first words. */
  command: { arg: string; text: string; words: string[] | null; is_prefix: boolean } | null
  risk_max: RiskLevel
}

export type Offer =
  | { can: false; why: string }
  | { can: true; similar: boolean; session: boolean; ttl_max_s: number; uses_max: number; sum: { path: string; max: number | null } | null; words_max: number | null }

const argOf = (args: JsonObject, path: string): Json | undefined => {
  const rest = path.slice('args.'.length)
  if (Object.hasOwn(args, rest)) return args[rest]
  let at: Json | undefined = args
  for (const step of rest.split('.')) at = isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined
  return at
}

function valueAt(request: Request, path: string): Json | undefined {
  if (path === 'args') return request.action?.arguments
  if (path === 'user.id') return request.user ?? ''
  if (path === 'session') return request.session ?? ''
  if (path === 'task.id') return request.task ?? ''
  return path.startsWith('args.') && request.action ? argOf(request.action.arguments, path) : undefined
}

/** The words of a command that has nothing but words in it; the server alone reads the others. */
export function plainWords(command: string): string[] | null {
  return /^[\w@%+=:,./ -]+$/.test(command) && !/(?:^| )[\w]+=/.test(command) ? command.trim().split(/ +/) : null
}

const automatic = ['agent.id', 'tool', 'shell.argv', 'agent.role']

/** Whether similar requests can be let pass with this one, within which limits. */
export function offerFor(request: Request, rules: GrantRules | null): Offer {
  if (request.kind !== 'action' || !request.action) return { can: false, why: 'only actions can be granted' }
  if (!rules) return { can: false, why: 'the policy offers no grants' }
  if (rules.risk_max === null || riskRank[request.risk.level] > riskRank[rules.risk_max])
    return { can: false, why: `${request.risk.level} risk is asked about each time` }
  const similar = rules.offer.includes('similar')
  const session = rules.offer.includes('session') && request.session !== null
  if (!similar && !session) return { can: false, why: 'the policy offers no grants for this' }
  const own = rules.similar.get(request.action.tool)
  for (const path of own?.pin ?? [])
    if (!automatic.includes(path) && valueAt(request, path) === undefined) return { can: false, why: `${path} is not in this call` }
  for (const path of own?.bound ?? [])
    if (typeof valueAt(request, path) !== 'number') return { can: false, why: `${path} is not a number in this call` }
  const shell = rules.shell.get(request.action.tool)
  const command = shell === undefined ? undefined : request.action.arguments[shell]
  const words = typeof command === 'string' ? plainWords(command) : null
  const [bound] = own?.bound ?? []
  return {
    can: true,
    similar,
    session,
    ttl_max_s: rules.ttl_max_s,
    uses_max: rules.uses_max,
    sum: bound === undefined ? null : { path: bound, max: rules.sum_max },
    words_max: own?.may_pin_prefix && words && words.length > 2 ? words.length : null,
  }
}

/** What the server calls the arguments beside a command. */
const other_arguments = 'other args'
const argumentsBeside = (args: JsonObject, shell: string): JsonObject => Object.fromEntries(Object.entries(args).filter(([name]) => name !== shell))

/** What such a grant would pin and bound. */
export function scopeOf(request: Request, rules: GrantRules, terms: Terms): Scope {
  const { tool, arguments: args } = request.action!
  const own = rules.similar.get(tool)
  const shell = rules.shell.get(tool)
  const command = shell === undefined ? undefined : args[shell]
  const is_command = shell !== undefined && typeof command === 'string'
  const words = is_command ? plainWords(command) : null
  const is_prefix = terms.words !== null && words !== null
  const level = request.risk.level
  const cap = rules.risk_max ?? level
  const pins = own ? own.pin.filter((path) => !automatic.includes(path)).map((path) => ({ path, value: valueAt(request, path) ?? null })) : []
  // The same words in another folder, or on another machine, are another action.
  if (is_command && pins.length === 0 && !own?.bound.length) pins.push({ path: other_arguments, value: argumentsBeside(args, shell) })
  else if (!own && !is_command) pins.push({ path: 'args', value: args })
  return {
    agent: request.agent,
    tool,
    session: terms.session ? request.session : null,
    pins,
    bounds: (own?.bound ?? []).map((path) => ({ path, at_most: Number(valueAt(request, path)) })),
    command: is_command ? { arg: shell, text: command, words: is_prefix ? words.slice(0, terms.words!) : words, is_prefix } : null,
    risk_max: riskRank[level] < riskRank[cap] ? level : cap,
  }
}

function coversCommand(command: NonNullable<Scope['command']>, text: Json | undefined): boolean {
  if (typeof text !== 'string') return false
  if (!command.is_prefix) return text === command.text
  const words = plainWords(text)
  return words !== null && command.words!.every((word, i) => words[i] === word)
}

/** Whether it would have let this earlier request pass. */
export function wouldCover(scope: Scope, request: Request): boolean {
  const action = request.action
  if (!action || action.tool !== scope.tool || request.agent !== scope.agent) return false
  if (scope.session !== null && request.session !== scope.session) return false
  if (riskRank[request.risk.level] > riskRank[scope.risk_max]) return false
  // What people changed was asked with other values than it ran with.
  const asked = request.proposed !== null && isObject(request.proposed) ? { ...request, action: { ...action, arguments: request.proposed } } : request
  const at = (path: string) => (path === other_arguments ? argumentsBeside(asked.action!.arguments, scope.command!.arg) : valueAt(asked, path))
  if (!scope.pins.every(({ path, value }) => isSame(at(path), value))) return false
  for (const { path, at_most } of scope.bounds) {
    const number = valueAt(asked, path)
    if (typeof number !== 'number' || number > at_most || (number < 0 && at_most >= 0)) return false
  }
  return scope.command ? coversCommand(scope.command, asked.action?.arguments[scope.command.arg]) : true
}

export type Coverage = { of: number; covered: Request[]; refused: Request[]; uses: number; sum: number | null }

/** What it would have let pass out of these, leaving out the request itself. */
export function coverageOf(scope: Scope, history: Request[], self: string): Coverage {
  const others = history.filter((request) => request.id !== self)
  const covered = others.filter((request) => wouldCover(scope, request))
  const refused = covered.filter((request) => request.outcome === 'rejected' || request.outcome === 'modified' || request.outcome === 'deferred' || request.outcome === 'aborted' || request.outcome === 'denied')
  const [bound] = scope.bounds
  const sum = bound ? covered.reduce((total, request) => total + Math.max(0, Number(valueAt(request, bound.path)) || 0), 0) : null
  return { of: others.length, covered, refused, uses: covered.length, sum }
}

const nameOf = (path: string): string => path.replace(/^args\./, '')

export function durationWord(seconds: number): string {
  const plain = (count: number, word: string) => `${Number(count.toFixed(1))} ${word}${count === 1 ? '' : 's'}`
  if (seconds % 86_400 === 0 && seconds >= 86_400) return plain(seconds / 86_400, 'day')
  if (seconds >= 3600) return plain(seconds / 3600, 'hour')
  return seconds >= 60 ? plain(Math.round(seconds / 60), 'minute') : plain(seconds, 'second')
}

/** “For 1 hour, billing-bot may run process_refund with currency "EUR" and amount at most 24, up to 5 times.” */
export function scopeWords(scope: Scope, terms: Terms): string {
  const limits: string[] = []
  for (const { path, value } of scope.pins)
    if (path === other_arguments) limits.push(isObject(value) && Object.keys(value).length ? `exactly the other arguments ${shortJson(value, 60)}` : 'no other argument')
    else limits.push(path === 'args' ? `exactly these arguments` : `${nameOf(path)} ${shortJson(value, 60)}`)
  for (const { path, at_most } of scope.bounds) limits.push(`${nameOf(path)} at most ${at_most}`)
  const { command } = scope
  if (command) limits.push(command.is_prefix ? `a command that begins with “${command.words!.join(' ')}”` : 'exactly this command')
  const where = scope.session === null ? '' : ' in this session'
  const times = terms.uses === 1 ? 'once more' : `up to ${terms.uses} times`
  const sum = terms.sum === null || scope.bounds.length === 0 ? '' : `, ${terms.sum} in total`
  return `For ${durationWord(terms.for_s)}, ${scope.agent} may run “${scope.tool}”${where} with ${limits.join(' and ') || 'any arguments'}, ${times}${sum}, without asking.`
}

export const wireTerms = (terms: Terms): GrantTerms => ({
  for_s: terms.for_s,
  uses: terms.uses,
  ...(terms.sum === null ? {} : { sum: terms.sum }),
  ...(terms.session ? { session: true } : {}),
  ...(terms.words === null ? {} : { words: terms.words }),
})

/** The grant as `/v1/policy/explain` takes it; null where only the server can read the command. */
export function hypothetical(scope: Scope): JsonObject | null {
  if (scope.command && !scope.command.words) return null
  return {
    tool: scope.tool,
    pins: Object.fromEntries(scope.pins.map(({ path, value }) => [path, value])),
    at_most: Object.fromEntries(scope.bounds.map(({ path, at_most }) => [path, at_most])),
    // A prefix cannot be said there; the whole command is covered by it.
    ...(scope.command ? { argv: plainWords(scope.command.text) } : {}),
  }
}


