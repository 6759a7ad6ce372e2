// What a device signs with a passkey: the server's challenge, which belongs to one sign-in or to exactly one decision.
import { client } from '../client'
import { fromBase64Url, toBase64Url } from '../model/base64url'
import type { Assertion, DecisionCall, Passkey, PasskeyGetOptions, Request } from '../wire'

type Described = { type: 'public-key'; id: string; transports: string[] }

const descriptor = ({ type, id, transports }: Described): PublicKeyCredentialDescriptor => ({ type, id: fromBase64Url(id), transports: transports as AuthenticatorTransport[] })

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

export async function makePasskey(name: string): Promise<Passkey> {
  const { publicKey } = await client.passkeyOptions()
  const credential = (await navigator.credentials.create({
    publicKey: {
      ...publicKey,
      challenge: fromBase64Url(publicKey.challenge),
      user: { ...publicKey.user, id: fromBase64Url(publicKey.user.id) },
      excludeCredentials: publicKey.excludeCredentials.map(descriptor),
    },
  })) as PublicKeyCredential | null
  if (!credential) throw new Error('no passkey was made')
  const response = credential.response as AuthenticatorAttestationResponse
  return client.addPasskey(name, {
    id: credential.id,
    type: 'public-key',
    response: { clientDataJSON: toBase64Url(response.clientDataJSON), attestationObject: toBase64Url(response.attestationObject), transports: response.getTransports() },
  })
}
