// The one-time link with which the page was opened.
import { create } from './store'

/** The token behind the `#`, taken out of the address before anything else happens. */
function takeToken(): string {
  const token = location.pathname === '/sign-in' ? location.hash.slice(1) : ''
  if (location.hash) history.replaceState(null, '', location.pathname)
  return token
}
/** The link with which this page was opened, until it is used or put aside. */
export const useLink = create<{ token: string }>(() => ({ token: takeToken() }))
export const forgetLink = (): void => useLink.setState({ token: '' })
