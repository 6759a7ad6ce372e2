// Finds credentials, so that whoever stands behind the approver does not read them from the screen.
import type { Json } from '../wire'
import { entriesOf, isObject, objectFrom } from './json'

// `PGPASSWORD` and `clientSecret` are meant, `max_tokens` and `secretary` are not.
const secret_name =
  /pass(?:word|wd|phrase)|secret(?!ar)|(?:^|[_\-.\s])(?:pass|pwd|token|(?:api|private|access|signing|encryption)[_\-.\s]?keys?|apikeys?|auth(?:orization)?|bearer|cookies?|credentials?|pin|cvv|cvc)$/i

// Bounded, and without blanks and what a shell takes for the end of a word: a command must not fit behind a mask.
const secret_values: RegExp[] = [
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}\b/g,
  /\bgithub_pat_[A-Za-z0-9_]{22,}\b/g,
  /\bglpat-[A-Za-z0-9_-]{20,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\b(?:sk|rk|pk)[_-](?:live|test|proj|ant)[_-][A-Za-z0-9_-]{10,}/g,
  /\bsk-[A-Za-z0-9]{20,}\b/g,
  /\bhp_(?:agent|approver|auditor|admin)_[A-Za-z0-9_-]{43}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
  // Line by line, and only lines that can be part of a key.
  /-----BEGIN [A-Z ]{0,24}PRIVATE KEY-----(?:(?:(?:\r?\n|\\r|\\n)[ \t]*)+(?:Proc-Type: 4,ENCRYPTED|DEK-Info: [A-Z0-9,-]{1,80}|[A-Za-z0-9+/=]{16,}))+(?:(?:(?:(?:\r?\n|\\r|\\n)[ \t]*)+[A-Za-z0-9+/=]{1,15})?(?:(?:\r?\n|\\r|\\n)[ \t]*)+-----END [A-Z ]{0,24}PRIVATE KEY-----)?/g,
  /(?<=\b(?:Bearer|Basic)\s)[A-Za-z0-9._~+/=-]{12,}/g,
  /(?<=:\/\/[^\s:/@]{1,64}:)[^\s@/"'`\\;|&<>()$]{3,}(?=@)/g,
  /(?<=\b(?:password|passwd|pwd|secret|token|api_?key)\s{0,3}[=:]\s{0,3}["']?)[^\s"'`\\&;,|<>()$]{6,}/gi,
]

/** True for names of arguments whose whole value is a secret: `password`, `apiKey`, `x-auth-token`. */
export function isSecretName(name: string): boolean {
  return secret_name.test(name.replace(/([a-z0-9])([A-Z])/g, '$1_$2'))
}

/** What stands on the screen for a secret, whatever its length. */
export const mask = '••••••••'

const unread_max = 64

/** True for what stands under a secret name and may be more than a secret: a mask would hide it from whoever decides. */
export const isTooMuch = (value: Json): boolean => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > unread_max || /[\s;|`]|\$[({]|\\[nrt]/.test(text)
}

/** True for values that a secret name hides. Yes, no and nothing are none: they only say whether there is a secret. */
export const isMaskable = (value: Json): value is string | number => (typeof value === 'string' && value !== '') || typeof value === 'number'

/** The value with what stands under a secret name masked, however deep: `passwords: ["x"]` and `credentials: {value: "x"}` too. */
export function maskSecrets(value: Json, is_secret = false): Json {
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, is_secret))
  if (isObject(value)) return objectFrom(entriesOf(value).map(([name, item]) => [name, maskSecrets(item, is_secret || isSecretName(name))]))
  return is_secret && isMaskable(value) ? mask : value
}

// One member of a call as the server prints it: `name: "text"` or `name: 12`. A text that was cut has no second quote.
const printed_member = /([^,("]{1,64}): ("(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*)/g

/** A printed call, with the values of secret names masked. */
export const maskCall = (text: string): string => text.replace(printed_member, (all, name: string) => (isSecretName(name.trim()) ? `${name}: ${mask}` : all))

export type Secret = { start: number; end: number }

/** Credentials inside a longer text. */
export function findSecrets(text: string): Secret[] {
  const found: Secret[] = []
  for (const expression of secret_values)
    for (const match of text.matchAll(expression)) found.push({ start: match.index, end: match.index + match[0].length })
  found.sort((a, b) => a.start - b.start || b.end - a.end)
  let end = -1
  return found.filter((secret) => {
    if (secret.start < end) return false
    end = secret.end
    return true
  })
}
