// Shows text that an agent or another person wrote. It is only ever a text node: nothing in it becomes markup, nothing in
// it stays hidden.
import { memo, useMemo, useState, type ReactNode } from 'react'
import { foldAt } from '../model/fold'
import { markedPieces, type Piece } from '../model/marked_text'
import { mask } from '../model/secrets'
import { plural } from '../model/words'

function Masked({ text }: { text: string }) {
  const [is_shown, show] = useState(false)
  const [was_shown, note] = useState(false)
  const onClick = () => {
    show(!is_shown)
    note(true)
  }
  const length = plural(text.length, 'character')
  return (
    <button type="button" data-covered={was_shown ? undefined : 'masked'} className="btn-link inline px-1 font-mono" onClick={onClick} aria-label={is_shown ? 'Hide the credential' : `Show the credential, ${length}`}>
      {is_shown ? text : `${mask} ${length}`}
    </button>
  )
}

/** Words that are written from right to left, with the blanks between them. */
const letters = '[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]+'
const leftward = new RegExp(`(${letters}(?: +${letters})*)`, 'u')

/** In the order in which it runs: such words turn round themselves, and no number or sign beside them. */
export const inOrder = (text: string): ReactNode => text.split(leftward).map((part, i) => (i % 2 ? <span key={i} dir="rtl">{part}</span> : part))

function PieceView({ piece, is_exact }: { piece: Piece; is_exact: boolean }) {
  const text = piece.kind === 'hidden' ? '' : is_exact ? inOrder(piece.text) : piece.text
  switch (piece.kind) {
    case 'plain':
      return text
    case 'hidden':
      return (
        <span className="hidden-character" title={piece.name} role="img" aria-label={`hidden: ${piece.name}`}>
          {piece.label}
        </span>
      )
    case 'danger':
      return (
        <mark className="danger-word" title={piece.what}>
          {text}
        </mark>
      )
    case 'mixed':
      return (
        <mark className="mixed-word" title="letters of two alphabets in one word">
          {text}
        </mark>
      )
    case 'secret':
      return <Masked text={piece.text} />
  }
}

/** Inline text with everything marked; `is_exact` where the order of its parts is that of what runs, and not that of a sentence. */
export const SafeText = memo(function SafeText({ text, is_exact = false }: { text: string; is_exact?: boolean }) {
  const pieces = useMemo(() => markedPieces(text), [text])
  return (
    <bdi dir={is_exact ? 'ltr' : undefined}>
      {pieces.map((piece, i) => (
        <PieceView key={i} piece={piece} is_exact={is_exact} />
      ))}
    </bdi>
  )
})

/** A text of any length: the beginning, and a button that says what the rest holds. */
export function LongText({ text, is_exact = false }: { text: string; is_exact?: boolean }) {
  const [is_open, open] = useState(false)
  const at = foldAt(text)
  const rest = text.slice(at)
  const marks = useMemo(() => (is_open || !rest ? 0 : markedPieces(rest).filter((piece) => piece.kind !== 'plain').length), [rest, is_open])
  return (
    <>
      <SafeText text={is_open ? text : text.slice(0, at)} is_exact={is_exact} />
      {rest && (
        <>
          {is_open ? ' ' : '… '}
          <button type="button" data-covered={is_open ? undefined : 'folded'} className="btn-link font-sans text-[0.8125rem]" onClick={() => open(!is_open)}>
            {is_open ? 'show less' : `${plural(rest.length, 'more character')}${marks ? `, ${marks} marked` : ''}`}
          </button>
        </>
      )}
    </>
  )
}
