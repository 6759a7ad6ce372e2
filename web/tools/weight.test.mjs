import { describe, expect, it } from 'vitest'
import { filesOf } from './weight.mjs'

const manifest = {
  'index.html': { file: 'index.js', css: ['page.css'], imports: ['_page.js'], dynamicImports: ['src/inbox/inbox_screen.tsx', 'src/stats/stats_screen.tsx'] },
  '_page.js': { file: 'page.js' },
  'src/inbox/inbox_screen.tsx': { file: 'inbox.js', imports: ['_page.js'], dynamicImports: ['src/request/request_pane.tsx'] },
  'src/request/request_pane.tsx': { file: 'pane.js', imports: ['_page.js', '_request.js'] },
  '_request.js': { file: 'request.js', imports: ['_page.js'] },
  'src/stats/stats_screen.tsx': { file: 'stats.js' },
}

describe('the weight of the first load', () => {
  it('counts what the page fetches at once, with what that imports, each once', () =>
    expect(filesOf(manifest)).toEqual({ scripts: ['index.js', 'page.js', 'inbox.js', 'pane.js', 'request.js'], styles: ['page.css'] }))
  it('does not pass because a file has another name now', () =>
    expect(() => filesOf({ ...manifest, 'src/request/request_pane.tsx': undefined })).toThrow('request_pane'))
})
