import { visibleText } from '../model/marked_text'
import { isPlainCall, titleOf } from '../model/words'
import type { Request } from '../wire'

/** What is asked, in one line for a list. */
export function Title({ request }: { request: Request }) {
  const line = titleOf(request).split('\n', 1)[0]!.slice(0, 200)
  if (!isPlainCall(request)) return <span className="font-medium">{visibleText(line)}</span>
  const tool = request.action!.tool
  const inner = request.headline.slice(tool.length + 1).replace(/\)$/, '')
  // A line that is too long is cut, but never inside a number or a short word: half of it would be another one.
  const parts = inner.split(/(?<=: )(-?\d[\d.eE+-]*|"[^"\\]{1,24}")/)
  return (
    <>
      <span className="font-semibold">{visibleText(tool)}</span>
      {inner && (
        <span className="text-soft">
          {' '}
          {parts.map((part, i) => (i % 2 ? <span key={i} className="inline-block">{visibleText(part)}</span> : visibleText(part)))}
        </span>
      )}
    </>
  )
}
