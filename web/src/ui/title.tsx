import { findDanger } from '../model/danger'
import { beginning } from '../model/fold'
import { maskedText, visibleText } from '../model/marked_text'
import { maskCall } from '../model/secrets'
import { isPlainCall, titleOf } from '../model/words'
import { inOrder } from './safe_text'
import type { Request } from '../wire'

/** The members of a printed call. A comma within quotes or brackets parts nothing. */
function membersOf(text: string): string[] {
  const members: string[] = []
  let [from, depth, is_quoted] = [0, 0, false]
  for (let i = 0; i < text.length; ++i) {
    const one = text[i]!
    if (is_quoted) {
      if (one === '\\') ++i
      else if (one === '"') is_quoted = false
    } else if (one === '"') is_quoted = true
    else if ('{['.includes(one)) ++depth
    else if ('}]'.includes(one)) --depth
    else if (one === ',' && text[i + 1] === ' ' && depth === 0) {
      members.push(text.slice(from, i))
      from = i + 2
    }
  }
  return [...members, text.slice(from)]
}

const number = /^[^":]+: -?\d[\d.eE+-]*$/

/** What is dangerous first, then numbers: neither that nor how much it is must be what a narrow list cuts away. */
export function weightiestFirst(text: string): string {
  const weight = (member: string): number => (findDanger(member).length ? 0 : number.test(member) ? 1 : 2)
  return membersOf(text)
    .toSorted((one, other) => weight(one) - weight(other))
    .join(', ')
}

/** What is asked, in one line for a list. */
export function Title({ request }: { request: Request }) {
  // Masked before it is cut to what fits: half a credential would not be known as one.
  if (!isPlainCall(request)) return <span className="font-medium">{beginning(maskedText(beginning(titleOf(request).split('\n', 1)[0]!, 2000)), 200)}</span>
  const tool = request.action!.tool
  const inner = weightiestFirst(maskedText(maskCall(request.headline.slice(tool.length + 1).replace(/\)$/, ''))))
  // A line that is too long is cut, but never inside a number: half of it would be another one.
  const parts = inner.split(/(?<=: )(-?\d[\d.eE+-]*)/)
  return (
    <>
      <span className="font-semibold">{visibleText(tool)}</span>
      {inner && (
        <span className="text-soft">
          {' '}
          {parts.map((part, i) => (i % 2 ? <span key={i} className="inline-block">{part}</span> : inOrder(part)))}
        </span>
      )}
    </>
  )
}
