// A passkey of this device for whoever is signed in.
import { client } from '../client'
import { fromBase64Url, toBase64Url } from '../model/base64url'
import { descriptor } from '../state/passkeys'
import type { Passkey } from '../wire'

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
