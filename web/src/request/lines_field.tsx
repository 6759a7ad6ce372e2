// A text that somebody changes: all of it is seen, on as many lines as it takes, and what they leave as it is stays as it was.
import { useState, type Ref, type TextareaHTMLAttributes } from 'react'
import { alike, fromField, lineEndOf, toField } from '../model/lines'

type Props = Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'value' | 'onChange'> & { value: string; onChange: (value: string) => void; ref?: Ref<HTMLTextAreaElement> }

export function LinesField({ value, onChange, className = '', ...more }: Props) {
  // As it was found: deleting the last line end makes it no other text.
  const [line_end, setLineEnd] = useState(() => lineEndOf(value))
  return (
    <>
      <textarea {...more} rows={1} className={`field block field-sizing-content resize-none ${className}`} readOnly={line_end === null} value={toField(value)} onChange={(event) => line_end !== null && onChange(fromField(event.target.value, line_end))} />
      {line_end === null && (
        <p className="m-0 mt-1 text-[0.8125rem] text-soft">
          Its lines end in more than one way, which no field keeps.{' '}
          <button
            type="button"
            className="btn-link"
            onClick={() => {
              setLineEnd('\n')
              onChange(alike(value))
            }}
          >
            Make them alike
          </button>
        </p>
      )}
    </>
  )
}
