import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app'
import { findSession } from './state/session'
import { startServiceWorker } from './state/service_worker'
import { followSettings } from './state/settings'
import './styles.css'

followSettings()
void findSession()
startServiceWorker()
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
