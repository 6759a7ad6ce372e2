import { Link } from 'wouter'
import { visibleText } from '../model/marked_text'
import { lookAt } from '../state/inbox'
import { dismiss, useNotices } from '../state/notices'
import { CloseIcon } from './icons'

const tones = { plain: 'border-line', good: 'border-yes/50', bad: 'border-no' }

/** What just happened, at the foot of the page and for screen readers. */
export function Notices() {
  const notices = useNotices((state) => state.notices)
  return (
    <div role="status" aria-live="polite" className="pointer-events-none fixed inset-x-3 bottom-36 z-40 flex flex-col items-center gap-2 md:bottom-6 md:left-6 md:right-auto md:w-[24rem] md:items-stretch">
      {notices.map((notice) => (
        <div key={notice.id} className={`rising pointer-events-auto flex w-full max-w-md items-start gap-3 rounded-lg border bg-sheet px-3.5 py-2.5 text-[0.875rem] shadow-lg ${tones[notice.tone]}`}>
          <span className="foreign flex-1">{visibleText(notice.text)}</span>
          {notice.request && (
            <Link
              href={`/r/${notice.request}`}
              className="btn-link shrink-0"
              onClick={() => {
                // The address may still be that of this very request; the cursor is what counts.
                lookAt(notice.request!)
                dismiss(notice.id)
              }}
            >
              Look
            </Link>
          )}
          {notice.link && (
            <Link href={notice.link.href} className="btn-link shrink-0" onClick={() => dismiss(notice.id)}>
              {notice.link.label}
            </Link>
          )}
          {notice.action && (
            <button
              type="button"
              className="btn-link shrink-0 font-medium"
              onClick={() => {
                notice.action!.run()
                dismiss(notice.id)
              }}
            >
              {notice.action.label}
            </button>
          )}
          {notice.stays && (
            <button type="button" aria-label="Dismiss" className="-mr-1 grid size-6 shrink-0 place-items-center" onClick={() => dismiss(notice.id)}>
              <CloseIcon />
            </button>
          )}
        </div>
      ))}
    </div>
  )
}
