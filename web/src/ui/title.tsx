import { beginning } from '../model/fold'
import { maskedText, visibleText } from '../model/marked_text'
import { maskCall } from '../model/secrets'
import { isPlainCall, titleOf } from '../model/words'
import type { Request } from '../wire'

/** What is asked, in one line for a list. */
export function Title({ request }: { request: Request }) {
  // Masked before it is cut to what fits: half a credential would not be known as one.
  if (!isPlainCall(request)) return <span className="font-medium">{beginning(maskedText(beginning(titleOf(request).split('\n', 1)[0]!, 2000)), 200)}</span>
  const tool = request.action!.tool
  const inner = maskedText(maskCall(request.headline.slice(tool.length + 1).replace(/\)$/, '')))
  // A line that is too long is cut, but never inside a number or a short word: half of it would be another one.
  const parts = inner.split(/(?<=: )(-?\d[\d.eE+-]*|"[^"\\]{1,24}")/)
  return (
    <>
      <span className="font-semibold">{visibleText(tool)}</span>
      {inner && (
        <span className="text-soft">
          {' '}
          {parts.map((part, i) => (i % 2 ? <span key={i} className="inline-block">{part}</span> : part))}
        </span>
      )}
    </>
  )
}
