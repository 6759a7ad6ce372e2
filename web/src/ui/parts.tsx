// Small parts that several screens share.
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { formatAgo, formatLeft, formatMoment } from '../model/time'
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

export function RiskLine({ request }: { request: Request }) {
  const { level, confidence } = request.risk
  const reversibility = reversibilityOf(request)
  return (
    <p className={`m-0 flex flex-wrap items-center gap-x-2.5 gap-y-1 text-[0.9375rem] font-semibold ${riskColor[level]}`}>
      <RiskBars level={level} />
      <span>{level === 'critical' ? 'Critical risk' : `${level.charAt(0).toUpperCase()}${level.slice(1)} risk`}</span>
      {reversibility && <span className="font-medium before:mr-2.5 before:content-['·']">{reversibilityWord[reversibility]}</span>}
      {confidence !== null && <span className="hidden font-normal text-soft before:mr-2.5 before:content-['·'] sm:inline">{Math.round(confidence * 100)} % sure of that</span>}
    </p>
  )
}

/** Time left, from the one clock of the page. Colour and weight change when it is short. */
export function Countdown({ request, className = '' }: { request: Request; className?: string }) {
  const left = Date.parse(request.expires_at) - useNow()
  const tone = left < 60_000 ? 'font-semibold text-critical' : left < 300_000 ? 'text-high' : 'text-soft'
  return (
    <time dateTime={request.expires_at} title={formatMoment(request.expires_at)} className={`tabular ${tone} ${className}`}>
      {formatLeft(left)}
    </time>
  )
}

export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatMoment(at)} className="tabular">
      {formatAgo(at, useNow())}
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

/** A native modal dialog: the browser keeps the focus inside and gives it back. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current.close()}
      className="m-auto max-h-[90dvh] w-[min(36rem,calc(100vw-2rem))] overflow-auto rounded-xl border border-line bg-sheet p-0 shadow-xl"
    >
      <div className="p-6">
        <div className="mb-4 flex items-start justify-between gap-4">
          <h2 className="text-lg">{title}</h2>
          <button type="button" className="btn btn-quiet -mr-2 -mt-1 px-2" aria-label="Close" onClick={() => dialog.current?.close()}>
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
  const copy = async () => {
    await navigator.clipboard.writeText(text).catch(() => undefined)
    setDone(true)
    setTimeout(() => setDone(false), 1500)
  }
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

/** Something that opens; closed it costs one line. */
export function Fold({ title, children, is_open = false }: { title: ReactNode; children: ReactNode; is_open?: boolean }) {
  return (
    <details className="group border-t border-line py-3" open={is_open}>
      <summary className="flex min-h-6 list-none items-center gap-2 text-[0.875rem] font-medium text-soft hover:text-ink [&::-webkit-details-marker]:hidden">
        <span aria-hidden="true" className="inline-block transition-transform group-open:rotate-90">›</span>
        {title}
      </summary>
      <div className="mt-3">{children}</div>
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
