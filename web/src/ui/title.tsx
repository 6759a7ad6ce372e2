import { visibleText } from '../model/marked_text'
import { isPlainCall, titleOf } from '../model/words'
import type { Request } from '../wire'

/** What is asked, in one line for a list. */
export function Title({ request }: { request: Request }) {
  const line = titleOf(request).split('\n', 1)[0]!.slice(0, 200)
  if (!isPlainCall(request)) return <span className="font-medium">{visibleText(line)}</span>
  const tool = request.action!.tool
  const inner = request.headline.slice(tool.length + 1).replace(/\)$/, '')
  return (
    <>
      <span className="font-semibold">{visibleText(tool)}</span>
      <span className="text-soft">{inner ? ` ${visibleText(inner)}` : ''}</span>
    </>
  )
}
