import { Fragment } from 'react'
import { visibleText } from '../model/marked_text'
import { isPlainCall, titleOf } from '../model/words'
import type { Request } from '../wire'

/** What is asked, in one line for a list. */
export function Title({ request }: { request: Request }) {
  const line = titleOf(request).split('\n', 1)[0]!.slice(0, 200)
  if (!isPlainCall(request)) return <span className="font-medium">{visibleText(line)}</span>
  const tool = request.action!.tool
  const inner = request.headline.slice(tool.length + 1).replace(/\)$/, '')
  // Cut between two arguments where it can be: half a number is another number.
  const parts = inner ? inner.split(/(?<=,) (?=[\w.-]+: )/) : []
  return (
    <span className="call-line">
      <span className="font-semibold">{visibleText(tool)}</span>
      {parts.map((part, i) => (
        <Fragment key={i}>
          {' '}
          <span className="whole-or-not text-soft">{visibleText(part)}</span>
        </Fragment>
      ))}
    </span>
  )
}
