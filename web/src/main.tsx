import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app'
import { fetchScreen, SignInScreen } from './screens'
import { beginInbox, dropInbox } from './state/inbox'
import { findSession, mayBeSignedIn, useSession } from './state/session'
import { startServiceWorker } from './state/service_worker'
import { followSettings } from './state/settings'
import './styles.css'

followSettings()
if (mayBeSignedIn()) {
  // What a page needs is fetched side by side, not one after the other.
  fetchScreen(location.pathname)
  beginInbox(location.pathname)
}
if (!mayBeSignedIn() || location.pathname === '/sign-in') void SignInScreen.fetch()
void findSession().then(() => {
  if (useSession.getState().status !== 'signed_in') dropInbox()
})
startServiceWorker()
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
