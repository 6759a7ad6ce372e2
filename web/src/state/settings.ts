// What a person prefers, kept in this browser.
import { create } from './store'

export type Theme = 'system' | 'light' | 'dark'
export type Hold = 'off' | 'risky' | 'all'
export type Settings = { theme: Theme; shortcuts: boolean; compact: boolean; grouping: boolean; hold: Hold }

const place = 'holdpoint.settings'
const defaults: Settings = { theme: 'system', shortcuts: true, compact: false, grouping: true, hold: 'risky' }

function stored(): Settings {
  try {
    const found = JSON.parse(localStorage.getItem(place) ?? '{}') as Partial<Settings>
    return {
      theme: found.theme === 'light' || found.theme === 'dark' ? found.theme : 'system',
      shortcuts: found.shortcuts ?? defaults.shortcuts,
      compact: found.compact ?? defaults.compact,
      grouping: found.grouping ?? defaults.grouping,
      hold: found.hold === 'off' || found.hold === 'all' ? found.hold : defaults.hold,
    }
  } catch {
    return defaults
  }
}

export const useSettings = create<Settings & { change: (part: Partial<Settings>) => void }>((set, get) => ({
  ...stored(),
  change: (part) => {
    set(part)
    const { theme, shortcuts, compact, grouping, hold } = get()
    try {
      localStorage.setItem(place, JSON.stringify({ theme, shortcuts, compact, grouping, hold }))
    } catch {
      // Private windows may refuse to store; the setting then holds until the page closes.
    }
  },
}))

/** Puts theme and density on the root element, now and whenever they change. */
export function followSettings(): void {
  const apply = ({ theme, compact }: Settings) => {
    const root = document.documentElement
    root.dataset['theme'] = theme
    root.dataset['density'] = compact ? 'compact' : 'normal'
  }
  apply(useSettings.getState())
  useSettings.subscribe(apply)
}
