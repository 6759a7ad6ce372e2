// Small parts that several screens share.
import { useEffect, useRef, useState, type MouseEvent, type ReactNode } from 'react'
import { sentence } from '../errors'
import { formatAgo, formatLeft, formatMoment } from '../model/time'
import { visibleText } from '../model/marked_text'
import { outcomeWord, reversibilityOf, reversibilityWord } from '../model/words'
import { useNow } from '../state/clock'
import { useSettings } from '../state/settings'
import type { Outcome, Request, RiskLevel } from '../wire'
import { CheckIcon, CloseIcon, CopyIcon, RiskBars } from './icons'

export const riskColor: Record<RiskLevel, string> = {
  low: 'text-low', medium: 'text-medium', high: 'text-high', critical: 'text-critical',
}

/** The letter that does the same as the button around it. */
export function Key({ name }: { name: string }) {
  const has_shortcuts = useSettings((settings) => settings.shortcuts)
  return has_shortcuts ? (
    <kbd aria-hidden="true" className="key hidden opacity-80 lg:inline-block">
      {name}
    </kbd>
  ) : null
}

export function RiskLine({ request, is_brief = false }: { request: Request; is_brief?: boolean }) {
  const { level, confidence } = request.risk
  const reversibility = reversibilityOf(request)
  return (
    <p className={`m-0 flex flex-wrap items-center gap-x-6 gap-y-1 overflow-x-clip text-[0.9375rem] font-semibold ${riskColor[level]}`}>
      <span className="flex items-center gap-2.5">
        <RiskBars level={level} /> {level === 'critical' ? 'Critical risk' : `${level.charAt(0).toUpperCase()}${level.slice(1)} risk`}
      </span>
      {reversibility && <span className="after-dot font-medium">{reversibilityWord[reversibility]}</span>}
      {confidence !== null && !is_brief && <span className="after-dot hidden font-normal text-soft sm:inline">{Math.round(confidence * 100)} % sure of this risk</span>}
    </p>
  )
}

/** Time left, from the one clock of the page. Colour and weight change when it is short. */
export function Countdown({ request, className = '' }: { request: Request; className?: string }) {
  const ends = Date.parse(request.expires_at)
  const left = useNow((now) => formatLeft(ends - now))
  const tone = useNow((now) => (ends - now < 60_000 ? 'font-semibold text-critical' : ends - now < 300_000 ? 'text-high' : 'text-soft'))
  return (
    <time dateTime={request.expires_at} title={formatMoment(request.expires_at)} className={`tabular ${tone} ${className}`}>
      {left}
    </time>
  )
}

export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatMoment(at)} className="tabular">
      {useNow((now) => formatAgo(at, now))}
    </time>
  )
}

const outcomeColor: Record<Outcome, string> = {
  allowed: 'text-soft', denied: 'text-no', approved: 'text-yes', modified: 'text-yes', answered: 'text-yes', rejected: 'text-no',
  deferred: 'text-medium', aborted: 'text-no', skipped: 'text-soft', expired: 'text-high', cancelled: 'text-soft',
}

export const OutcomeTag = ({ outcome }: { outcome: Outcome }) => (
  <span className={`font-medium ${outcomeColor[outcome]}`}>{outcomeWord[outcome]}</span>
)

/** The first letter of a name, in a circle. */
export const Avatar = ({ name }: { name: string }) => (
  <span className="inline-grid size-5 place-items-center rounded-full border border-sheet bg-accent text-[0.6875rem] font-semibold uppercase text-sheet">{visibleText(String.fromCodePoint(name.codePointAt(0) ?? 0x20))}</span>
)

/** A native modal dialog: the browser keeps the focus inside and gives it back. */
export function Dialog({ title, onClose, children, is_low = false }: { title: string; onClose: () => void; children: ReactNode; is_low?: boolean }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  // The second half of a double click does not close what the first one opened: it may show a key, once.
  const close = ({ detail }: MouseEvent) => void (detail < 2 && dialog.current?.close())
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && close(event)}
      className={`${is_low ? 'mx-auto mb-4 mt-auto' : 'm-auto'} max-h-[90dvh] w-[min(36rem,calc(100vw-2rem))] overflow-auto rounded-xl border border-line bg-sheet p-0 shadow-xl`}
    >
      <div className="p-6">
        <div className="mb-4 flex items-start justify-between gap-4">
          <h2 className="text-lg">{title}</h2>
          <button type="button" className="btn btn-quiet -mr-2 -mt-1 px-2" aria-label="Close" onClick={close}>
            <CloseIcon />
          </button>
        </div>
        {children}
      </div>
    </dialog>
  )
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [is_done, setDone] = useState(false)
  // Without TLS there is no clipboard, and a browser may refuse it.
  const [is_refused, setRefused] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setDone(true)
      setTimeout(() => setDone(false), 1500)
    } catch {
      setRefused(true)
    }
  }
  if (is_refused)
    return (
      <label className="block w-full text-[0.8125rem]">
        Select and copy it
        <textarea ref={(field) => field?.select()} readOnly className="field mt-1 block font-mono" value={text} />
      </label>
    )
  return (
    <button type="button" className="btn btn-quiet px-2 text-[0.8125rem]" onClick={copy}>
      {is_done ? <CheckIcon /> : <CopyIcon />}
      {is_done ? 'Copied' : label}
    </button>
  )
}

export function Section({ title, children, aside }: { title: string; children: ReactNode; aside?: ReactNode }) {
  return (
    <section className="mt-6">
      <div className="mb-1.5 flex items-baseline justify-between gap-3">
        <h2 className="label">{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  )
}

/** Something that opens; closed it costs one line, and what is inside is only read when somebody opens it. */
export function Fold({ title, children, is_open = false }: { title: ReactNode; children: ReactNode; is_open?: boolean }) {
  const [was_open, setOpen] = useState(is_open)
  return (
    <details className="group border-t border-line py-3" open={is_open} onToggle={(event) => event.currentTarget.open && setOpen(true)}>
      <summary className="flex min-h-6 list-none items-center gap-2 text-[0.875rem] font-medium text-soft hover:text-ink [&::-webkit-details-marker]:hidden">
        <span aria-hidden="true" className="inline-block transition-transform group-open:rotate-90">›</span>
        {title}
      </summary>
      <div className="mt-3">{(was_open || is_open) && children}</div>
    </details>
  )
}

export const Spinner = () => <span aria-hidden="true" className="turning inline-block size-4 rounded-full border-2 border-line border-t-accent" />

export function PageHead({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <header className="mb-6 flex flex-wrap items-end justify-between gap-4">
      <h1 className="text-[1.625rem] leading-8 tracking-tight">{title}</h1>
      {children}
    </header>
  )
}

/** A screen that scrolls as a whole. */
export function Page({ children, width = 'max-w-6xl' }: { children: ReactNode; width?: string }) {
  return (
    <main id="main" tabIndex={0} className="relative min-h-0 flex-1 overflow-y-auto focus-visible:-outline-offset-2">
      <div className={`mx-auto px-5 py-8 md:px-8 ${width}`}>{children}</div>
    </main>
  )
}

/** Which part of a screen is shown; the address keeps it. */
export function Tabs<T extends string>({ label, tabs, value, onPick }: { label: string; tabs: [T, string][]; value: T; onPick: (tab: T) => void }) {
  const bar = useRef<HTMLDivElement>(null)
  // On a phone the chosen one may stand beyond the edge.
  useEffect(() => {
    // In braces: browsers have begun to answer this with a promise, and an effect may only return its end.
    void bar.current?.querySelector('[aria-pressed=true]')?.scrollIntoView({ inline: 'center', block: 'nearest' })
  }, [value])
  return (
    <div ref={bar} role="group" aria-label={label} className="mb-6 flex gap-1 overflow-x-auto border-b border-line">
      {tabs.map(([key, text]) => (
        <button
          key={key}
          type="button"
          aria-pressed={value === key}
          className={`relative min-h-10 shrink-0 px-3 focus-visible:-outline-offset-2 ${value === key ? 'font-semibold text-ink after:absolute after:inset-x-3 after:bottom-0 after:h-[3px] after:rounded-t after:bg-accent' : 'text-soft hover:text-ink'}`}
          onClick={() => onPick(key)}
        >
          {text}
        </button>
      ))}
    </div>
  )
}

export function Figure({ value, label }: { value: ReactNode; label: string }) {
  return (
    <div className="border-l-2 border-line pl-4">
      <p className="tabular m-0 text-[1.75rem] font-semibold leading-9 tracking-tight">{value}</p>
      <p className="m-0 text-[0.875rem] text-soft">{label}</p>
    </div>
  )
}

export function Problem({ error }: { error: unknown }) {
  return error === undefined ? null : (
    <p role="alert" className="foreign m-0 my-3 text-no">
      {sentence(error)}
    </p>
  )
}
