// A field cannot show what is hidden in it: below it the same text stands once more, with everything marked.
import { findHidden } from '../model/hidden'
import { LongText } from './safe_text'

const hides = (text: string): boolean => findHidden(text).length > 0

/** What the field names as its description. */
export const hintOf = (id: string, text: string): string | undefined => (hides(text) ? `${id}-hidden` : undefined)

export function HiddenHint({ id, text }: { id: string; text: string }) {
  return hides(text) ? (
    <p id={`${id}-hidden`} className="foreign m-0 mt-1 font-mono text-[0.8125rem] text-soft">
      <LongText text={text} />
    </p>
  ) : null
}
