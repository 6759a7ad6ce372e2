// Which of the subscriptions is this browser's: the server does not say, an address of a push service is a secret.
const place = 'holdpoint.push'
// And for whom: the next person at this browser is told only if they ask.
const owner_place = 'holdpoint.push.owner'

export function pushHere(): string | null {
  try {
    return localStorage.getItem(place)
  } catch {
    return null
  }
}

export function keepPushHere(id: string, owner: string): void {
  localStorage.setItem(place, id)
  localStorage.setItem(owner_place, owner)
}

export const isPushOf = (owner: string): boolean => localStorage.getItem(owner_place) === owner

/** Signing out ends it on the server; this browser must not begin again by itself. */
export function forgetPush(): void {
  try {
    localStorage.removeItem(place)
    localStorage.removeItem(owner_place)
  } catch {
    // Nothing was kept.
  }
}
