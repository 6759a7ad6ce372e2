// Passkeys: the device asks for a fingerprint, a face or a PIN, and signs what the server asked. To confirm a decision it
// signs a challenge that belongs to exactly that decision.
import { client } from '../client'
import { fromBase64Url, toBase64Url } from '../model/base64url'
import type { Assertion, DecisionCall, PasskeyGetOptions, Request } from '../wire'

/** Passkeys need a name of the server, not an address of numbers, and a safe connection. */
export const canUsePasskeys = (): boolean => window.isSecureContext && 'PublicKeyCredential' in window && !/^(?:[\d.]+|\[.*\])$/.test(location.hostname)

type Described = { type: 'public-key'; id: string; transports: string[] }

export const descriptor = ({ type, id, transports }: Described): PublicKeyCredentialDescriptor => ({ type, id: fromBase64Url(id), transports: transports as AuthenticatorTransport[] })

async function sign({ publicKey }: PasskeyGetOptions, signal?: AbortSignal): Promise<Assertion> {
  const credential = (await navigator.credentials.get({
    ...(signal ? { signal } : {}),
    publicKey: { ...publicKey, challenge: fromBase64Url(publicKey.challenge), allowCredentials: publicKey.allowCredentials.map(descriptor) },
  })) as PublicKeyCredential | null
  signal?.throwIfAborted()
  if (!credential) throw new Error('no passkey was chosen')
  const response = credential.response as AuthenticatorAssertionResponse
  return {
    id: credential.id,
    type: 'public-key',
    response: {
      clientDataJSON: toBase64Url(response.clientDataJSON),
      authenticatorData: toBase64Url(response.authenticatorData),
      signature: toBase64Url(response.signature),
      userHandle: response.userHandle ? toBase64Url(response.userHandle) : null,
    },
  }
}

export const signInAssertion = async (): Promise<Assertion> => sign(await client.signInOptions())

/** Confirms exactly this decision; never after `signal`, when the person has gone on. */
export async function confirmDecision(request: Request, call: Omit<DecisionCall, 'digest'>, signal: AbortSignal): Promise<Assertion> {
  const options = await client.challenge(request.id, { ...call, digest: request.digest })
  signal.throwIfAborted()
  return sign(options, signal)
}

/** What went wrong, in words; browsers give one name to many reasons on purpose. */
export function passkeyProblem(error: unknown): string | null {
  if (!(error instanceof DOMException)) return null
  if (error.name === 'NotAllowedError') return 'The passkey was not used: it was cancelled, or took too long.'
  if (error.name === 'InvalidStateError') return 'This device already has a passkey for you.'
  if (error.name === 'SecurityError') return 'Passkeys work only under the name of the server, with a safe connection.'
  return error.message
}
