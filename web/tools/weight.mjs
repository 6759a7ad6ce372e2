// What a browser fetches before a person can decide: what the page imports, and what it fetches at once by itself.

/** A list with a request beside it. `src/screens.ts` fetches the last two as soon as the page runs. */
export const first_load = ['index.html', 'src/inbox/inbox_screen.tsx', 'src/request/request_pane.tsx']

/** The files of these entries of a build's manifest and of everything that they import, each once. */
export function filesOf(manifest, entries = first_load) {
  const seen = new Set()
  const scripts = new Set()
  const styles = new Set()
  const visit = (key) => {
    if (seen.has(key)) return
    seen.add(key)
    const chunk = manifest[key]
    if (!chunk) throw new Error(`${key} is no part of the build`)
    scripts.add(chunk.file)
    for (const file of chunk.css ?? []) styles.add(file)
    for (const next of chunk.imports ?? []) visit(next)
  }
  for (const entry of entries) visit(entry)
  return { scripts: [...scripts], styles: [...styles] }
}
