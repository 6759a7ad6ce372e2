import { memo, useState } from 'react'
import { whoDecides } from '../model/authority'
import { hasVoted } from '../model/order'
import { visibleText } from '../model/marked_text'
import type { Row } from '../model/group'
import { decidingWord, kindWord } from '../model/words'
import { toggleMark, useInbox } from '../state/inbox'
import { CheckIcon, RiskBars, StackIcon } from '../ui/icons'
import { isPhone } from '../state/phone'
import { useOthers } from '../state/presence'
import { heldByMe } from '../state/undo'
import { Avatar, Countdown, OutcomeTag, riskColor } from '../ui/parts'
import { Title } from '../ui/title'
import type { Request } from '../wire'

function Where({ request, me }: { request: Request; me: string }) {
  const parts = [request.agent]
  if (request.kind !== 'action') parts.unshift(kindWord[request.kind])
  if (request.user) parts.push(`for ${request.user}`)
  if (request.state === 'pending' && hasVoted(request, me)) parts.push('waits for others')
  else if (request.requirement.lines.some((line) => line.group || line.quorum > 1)) parts.push(whoDecides(request))
  return <>{visibleText(parts.join(' · '))}</>
}

type Props = {
  row: Row
  me: string
  index: number
  total: number
  is_selected: boolean
  is_marked: boolean
  is_marking: boolean
  is_compact: boolean
  onPick: (id: string) => void
}

export const RequestRow = memo(function RequestRow({ row, me, index, total, is_selected, is_marked, is_marking, is_compact, onPick }: Props) {
  const request = row.type === 'one' ? row.request : row.requests[0]!
  const others = useOthers(request)
  // A group waits while any of it does.
  const held = row.type === 'one' || row.requests.every(heldByMe) ? heldByMe(request) : null
  const deciding = useInbox((inbox) => inbox.deciding.get(request.id))
  const [is_new] = useState(() => useInbox.getState().arrived.has(request.id))
  const is_settled = request.state === 'settled'
  const level = request.risk.level
  const status = deciding ? (
    <span className="text-soft">{decidingWord[deciding]}…</span>
  ) : held ? (
    <span className="text-soft">{decidingWord[held.decision]}…</span>
  ) : is_settled && request.outcome ? (
    <OutcomeTag outcome={request.outcome} />
  ) : (
    <Countdown request={request} />
  )
  return (
    <div
      id={`row-${row.id}`}
      role="option"
      aria-selected={is_selected}
      aria-checked={row.type === 'one' ? is_marked : undefined}
      aria-posinset={index + 1}
      aria-setsize={total}
      onClick={() => (is_marking && row.type === 'one' ? toggleMark(row.id) : onPick(row.id))}
      className={`relative flex h-full cursor-pointer gap-3 border-b border-line pl-4 pr-4 ${is_compact ? 'items-center' : 'items-start pt-[0.6875rem]'} ${
        is_selected ? 'bg-pick before:absolute before:inset-y-0 before:left-0 before:w-[3px] before:bg-accent' : 'hover:bg-well'
      } ${deciding || held || is_settled ? 'text-faint' : ''} ${is_new && !is_selected ? 'arriving' : ''}`}
    >
      <span
        className={`mt-px grid size-5 shrink-0 place-items-center ${is_marked ? 'rounded bg-accent text-sheet' : riskColor[level]}`}
        onClick={(event) => {
          // A thumb that wants to open the row hits it too: there it marks only while rows are selected.
          if (row.type !== 'one' || (isPhone() && !is_marking)) return
          event.stopPropagation()
          toggleMark(row.id)
        }}
      >
        {is_marked ? <CheckIcon /> : is_marking && row.type === 'one' ? <span className="size-4 rounded border border-edge" /> : <RiskBars level={level} />}
        <span className="sr-only">{level} risk,</span>
      </span>
      <span className={`min-w-0 flex-1 ${is_compact ? 'flex items-baseline gap-3' : ''}`}>
        <span className="foreign-line block min-w-0 text-[0.90625rem] leading-5">
          {row.type === 'group' ? (
            <>
              <span className="font-semibold">{visibleText(request.action?.tool ?? '')}</span> <span className="text-soft">× {row.requests.length}</span>
            </>
          ) : (
            <Title request={request} />
          )}
        </span>
        <span className={`block text-[0.8125rem] leading-5 text-faint ${is_compact ? 'hidden shrink-0 lg:block' : ''}`}>
          {row.type === 'group' ? (
            <span className="foreign-line flex items-center gap-1.5">
              <StackIcon /> {visibleText(`${row.requests.length} alike from ${request.agent}`)}
            </span>
          ) : (
            <span className="foreign-line block">
              <Where request={request} me={me} />
            </span>
          )}
        </span>
      </span>
      {row.type === 'one' && others.length > 0 && (
        <span className="shrink-0" title={visibleText(others.join(', '))}>
          <Avatar name={others[0]!} />
          <span className="sr-only">{visibleText(others[0]!)} is looking,</span>
        </span>
      )}
      <span className={`shrink-0 text-right text-[0.8125rem] leading-5 ${is_compact ? '' : 'min-w-12'}`}>{status}</span>
    </div>
  )
})
