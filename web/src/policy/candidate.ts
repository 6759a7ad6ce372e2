// The policy somebody is trying out. It lives as long as the page, so that looking elsewhere does not lose it.
import { useSession } from '../state/session'
import { create } from '../state/store'

type Candidate = { text: string | null; since_s: number | null; put: (part: { text?: string | null; since_s?: number | null }) => void }

export const useCandidate = create<Candidate>((set) => ({ text: null, since_s: null, put: (part) => set(part) }))

// Nobody puts in force what somebody else began.
let owner = useSession.getState().me?.id
useSession.subscribe(({ me }) => {
  if (me && me.id !== owner) useCandidate.setState({ text: null, since_s: null })
  owner = me?.id ?? owner
})

const indentOf = (line: string): number => line.length - line.trimStart().length

/** The text with one more rule: at the end of its `rules`, or with a `rules` of its own. Null where they stand in one line. */
export function withRule(text: string, rule: string): string | null {
  const lines = text.replace(/\s+$/, '').split('\n')
  const at = lines.findIndex((line) => /^rules:/.test(line))
  const given = rule.replace(/\s+$/, '').split('\n')
  const shift = indentOf(given.find((line) => line.trim()) ?? '')
  const indented = (by: number) => given.map((line) => ' '.repeat(by) + line.slice(Math.min(shift, indentOf(line))))
  if (at < 0) return [...lines, 'rules:', ...indented(2)].join('\n') + '\n'
  if (!/^rules:\s*(?:#.*)?$/.test(lines[at]!)) return null
  let end = at + 1
  let by = 2
  let is_first = true
  for (let i = at + 1; i < lines.length; ++i) {
    const line = lines[i]!
    if (!line.trim()) continue
    // The next section begins; a list may stand as far left as its name.
    if (indentOf(line) === 0 && !line.startsWith('-') && !line.startsWith('#')) break
    if (is_first && line.trimStart().startsWith('-')) {
      by = indentOf(line)
      is_first = false
    }
    if (!line.startsWith('#')) end = i + 1
  }
  return [...lines.slice(0, end), ...indented(by), ...lines.slice(end)].join('\n') + '\n'
}
