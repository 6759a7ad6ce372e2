// The head of a request: what it is, who asks, how long it waits, how it stands or ended.
import type { ReactNode } from 'react'
import { changes } from '../model/json'
import { visibleText } from '../model/marked_text'
import { didTo, isPlainCall, kindWord, timeoutWord, titleOf } from '../model/words'
import { useNow } from '../state/clock'
import { whoDecided } from '../state/decide'
import { useOthers } from '../state/presence'
import { useMe } from '../state/session'
import { JsonView } from '../ui/json_view'
import { Ago, Avatar, Countdown, Key, OutcomeTag } from '../ui/parts'
import { LongText, SafeText } from '../ui/safe_text'
import type { Json, Release, Request } from '../wire'
import { ChangeList } from './diff_view'
import { AnswerView } from './subject'

export function Headline({ request }: { request: Request }) {
  const text = isPlainCall(request) ? request.action!.tool : request.kind === 'response' ? 'Final answer' : titleOf(request)
  const is_long = text.length > 140
  return (
    <h1 className={`foreign mt-2 tracking-[-0.01em] ${is_long ? 'text-[1.0625rem] font-medium leading-7' : 'text-[1.4375rem] leading-8'} ${isPlainCall(request) ? 'font-mono text-[1.3125rem]' : ''}`}>
      <LongText text={text} />
    </h1>
  )
}

export function WhoAndWhen({ request }: { request: Request }) {
  return (
    <p className="m-0 mt-1.5 text-soft">
      {request.kind !== 'action' && <>{kindWord[request.kind]} from </>}
      <span className="font-medium text-ink">
        <SafeText text={request.agent} />
      </span>
      {request.user && (
        <>
          {' '}for <SafeText text={request.user} />
        </>
      )}
      {' · '}
      <Ago at={request.created_at} />
      {request.state === 'pending' && (
        <>
          {' · '}
          <Countdown request={request} /> left, then {timeoutWord(request)}
        </>
      )}
    </p>
  )
}

/** The others who have it open now. */
export function Others({ request }: { request: Request }) {
  const others = useOthers(request)
  if (others.length === 0) return null
  return (
    <p role="status" className="m-0 mt-2 flex items-center gap-2 text-[0.875rem] text-soft">
      <span aria-hidden="true" className="flex -space-x-1.5">
        {others.slice(0, 4).map((name) => (
          <Avatar key={name} name={name} />
        ))}
      </span>
      <span className="foreign">
        {visibleText(others.slice(0, 3).join(', '))}
        {others.length > 3 && ` and ${others.length - 3} more`} {others.length === 1 ? 'is' : 'are'} looking at this too
      </span>
    </p>
  )
}

const secondsLeft = (until: string, now: number): number => Math.max(0, Math.ceil((Date.parse(until) - now) / 1000))

/** Decisions of others that are not yet in effect; until then one's own still counts. */
export function HeldByOthers({ request }: { request: Request }) {
  const me = useMe()
  const others = request.held?.filter((held) => held.by !== me.name) ?? []
  const now = useNow((now) => (others.length ? now : 0))
  return others.map((held) => (
    <p key={held.by} className="foreign m-0 mt-2 text-[0.875rem] font-medium text-medium">
      <span role="status">
        {visibleText(held.by)} {didTo(held.decision, 'this')}.
      </span>{' '}
      It takes effect in <span className="tabular">{secondsLeft(held.until, now)} s</span>.
    </p>
  ))
}

/** A decision of one's own that is not yet in effect. */
export function HeldLine({ held, onUndo, label = <>Undo <Key name="z" /></> }: { held: NonNullable<Request['held']>[number]; onUndo: () => void; label?: ReactNode }) {
  const left_s = useNow((now) => secondsLeft(held.until, now))
  return (
    <p className="m-0 inline-flex min-h-11 flex-wrap items-center gap-x-4">
      <span className="text-soft">
        You {didTo(held.decision, 'this')}. It takes effect in <span className="tabular">{left_s} s</span>.
      </span>
      <button type="button" className="btn min-h-11 md:min-h-9" onClick={onUndo}>
        {label}
      </button>
    </p>
  )
}

/** Tells screen readers twice that time runs out, and not every second. */
export function TimeWarning({ request }: { request: Request }) {
  const ends = Date.parse(request.expires_at)
  const word = useNow((now) => (now >= ends || ends - now > 60_000 ? '' : ends - now > 20_000 ? 'Less than a minute left.' : 'Less than 20 seconds left. Press plus for five more minutes.'))
  return (
    <span role="status" className="sr-only">
      {word}
    </span>
  )
}

/** What a person can change of a request, as `proposed` keeps it. */
const changeablePart = (part: Pick<Release, 'arguments' | 'plan' | 'response'>): Json => part.arguments ?? (part.plan as Json | undefined) ?? (part.response as Json | undefined) ?? null

/** What somebody changed while it waits. */
function Changed({ request, is_news }: { request: Request; is_news: boolean }) {
  const me = useMe()
  const by = request.votes.findLast((vote) => vote.decision === 'modify')?.by
  const who = by === me.name ? 'You changed this' : by ? `${visibleText(by)} changed this` : 'This was changed by a person'
  const is_loud = is_news && by !== me.name
  return (
    <div role={is_loud ? 'alert' : undefined} className={`mt-4 rounded-lg bg-medium-wash px-4 py-3 ${is_loud ? 'border border-medium' : ''}`}>
      <p className="m-0 mb-2 font-medium">
        {is_loud ? `${who} while you were looking. Nothing of yours was decided; read it again.` : `${who}.`} What stands now:
      </p>
      <ChangeList changes={changes(request.proposed!, changeablePart(request.action ?? request))} />
    </div>
  )
}

/** How it ended, or what somebody changed while it waits. */
export function Standing({ request, is_news = false }: { request: Request; is_news?: boolean }) {
  if (request.state === 'pending') return request.proposed === null ? null : <Changed request={request} is_news={is_news} />
  const { decision, outcome } = request
  const words = decision?.reason ?? decision?.guidance ?? decision?.note
  return (
    <div className="mt-4 rounded-lg border border-line px-4 py-3">
      <p className="m-0">
        {outcome && <OutcomeTag outcome={outcome} />} <span className="text-soft">· {visibleText(whoDecided(request))}</span>
      </p>
      {words && (
        <p className="foreign m-0 mt-1">
          “<SafeText text={words} />”
        </p>
      )}
      {request.proposed !== null && request.release && (
        <div className="mt-2">
          <ChangeList changes={changes(request.proposed, changeablePart(request.release))} />
        </div>
      )}
      {decision?.kind === 'answer' && (
        <div className="mt-2">
          <AnswerView answer={decision.answer ?? null} />
        </div>
      )}
      {request.message_for_agent && (
        <p className="foreign m-0 mt-2 text-[0.875rem] text-soft">
          {/* The server quotes with backticks, which would be marked like those of a command. */}
          The agent was told: <SafeText text={request.message_for_agent.replace(/`([^`\n]{1,200})`/g, '“$1”')} />
        </p>
      )}
      {request.report && (
        <div className="mt-2 text-[0.875rem]">
          <p className="m-0">{request.report.success ? 'The agent reports: done.' : 'The agent reports a failure.'}</p>
          {request.report.error && (
            <p className="foreign m-0 text-no">
              <LongText text={request.report.error} />
            </p>
          )}
          {request.report.result != null && <JsonView value={request.report.result} />}
        </div>
      )}
    </div>
  )
}
