// Passkeys: the device asks for a fingerprint, a face or a PIN, and signs what the server asked. How it is asked is fetched when
// somebody wants to be.
import type { Assertion, DecisionCall, Passkey, Request } from '../wire'

/** Passkeys need a name of the server, not an address of numbers, and a safe connection. */
export const canUsePasskeys = (): boolean => window.isSecureContext && 'PublicKeyCredential' in window && !/^(?:[\d.]+|\[.*\])$/.test(location.hostname)

const ceremonies = () => import('./ceremonies')

export const signInAssertion = async (): Promise<Assertion> => (await ceremonies()).signInAssertion()
/** Confirms exactly this decision; never after `signal`, when the person has gone on. */
export const confirmDecision = async (request: Request, call: Omit<DecisionCall, 'digest'>, signal: AbortSignal): Promise<Assertion> =>
  (await ceremonies()).confirmDecision(request, call, signal)
export const makePasskey = async (name: string): Promise<Passkey> => (await ceremonies()).makePasskey(name)

/** What went wrong, in words; browsers give one name to many reasons on purpose. */
export function passkeyProblem(error: unknown): string | null {
  if (!(error instanceof DOMException)) return null
  if (error.name === 'NotAllowedError') return 'The passkey was not used: it was cancelled, or took too long.'
  if (error.name === 'InvalidStateError') return 'This device already has a passkey for you.'
  if (error.name === 'SecurityError') return 'Passkeys work only under the name of the server, with a safe connection.'
  return error.message
}
