// The parts with which people decide. A list is drawn without them; until one is here its keys are bound to nothing.
import { later } from './later'

export const RequestPane = later(() => import('../request/request_pane'))
export const BulkPane = later(() => import('../inbox/bulk_pane'))
export const ActiveGrants = later(() => import('../inbox/active_grants'))
export const EmptyState = later(() => import('../inbox/empty_state'))
export const CodePanel = later(() => import('../request/code_panel'))
export const GrantPanel = later(() => import('../request/grant_panel'))
export const RarePanel = later(() => import('../request/rare_panels'))
export const ChangeEditor = later(() => import('../request/change_editor'))
export const Why = later(() => import('../request/why'))
export const Earlier = later(() => import('../request/earlier'))
export const Verdict = later(() => import('../request/verdict'))
export const Timeline = later(() => import('../request/timeline'))
export const Technical = later(() => import('../request/technical'))
export const WordDiff = later(() => import('../request/text_diff'))
