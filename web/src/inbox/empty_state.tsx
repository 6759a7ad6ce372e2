// Nothing waits: say so, show that things work, and teach whoever is here for the first time.
import { Link } from 'wouter'
import { client } from '../client'
import { beginning } from '../model/fold'
import { visibleText } from '../model/marked_text'
import { plural, titleOf } from '../model/words'
import { useInbox } from '../state/inbox'
import { useLoad } from '../state/load'
import { Mark } from '../ui/icons'
import { Ago, CopyButton, OutcomeTag } from '../ui/parts'

function FirstSteps() {
  const curl = `curl ${location.origin}/v1/requests \\
  -H "Authorization: Bearer $HOLDPOINT_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"action": {"tool": "process_refund",
       "arguments": {"orderId": "1234", "amount": 24}}}'`
  return (
    <>
      <p className="mt-3 text-soft">
        Agents ask here before they act. Make a key for one under People, then let it ask, or ask yourself. The request appears in this
        place the moment it is stored.
      </p>
      <div className="mt-5 rounded-lg border border-line bg-well text-left">
        <div className="flex items-center justify-between border-b border-line py-1 pl-4 pr-1.5">
          <span className="label">Your first request</span>
          <CopyButton text={curl} />
        </div>
        <pre tabIndex={0} aria-label="Command for a first request" className="m-0 overflow-x-auto whitespace-pre-wrap px-4 py-3 font-mono [overflow-wrap:anywhere] text-[0.8125rem] leading-6">
          {curl}
        </pre>
      </div>
      <p className="mt-4 text-[0.875rem] text-faint">Waiting for it…</p>
    </>
  )
}

export default function EmptyState({ snoozed, onSnoozed }: { snoozed: number; onSnoozed: () => void }) {
  const is_live = useInbox((inbox) => inbox.connection === 'live')
  const { data } = useLoad('latest settled', () => client.list({ state: 'settled', limit: '3' }))
  const latest = data?.requests ?? []
  return (
    <div className="m-auto w-full max-w-xl px-6 py-16 text-center">
      <span className="inline-block text-accent">
        <Mark size={56} />
      </span>
      <h1 className="mt-3 text-[1.625rem] leading-8 tracking-tight">Nothing needs you</h1>
      {snoozed > 0 && (
        <p className="mb-0 mt-2">
          <button type="button" className="btn-link" onClick={onSnoozed}>
            {plural(snoozed, 'request')} you put off
          </button>
        </p>
      )}
      {data && latest.length === 0 && snoozed === 0 ? (
        <FirstSteps />
      ) : (
        <>
          <p className="mt-2 text-soft">{is_live ? 'What agents ask next appears here at once.' : 'The connection is being restored.'}</p>
          {latest.length > 0 && (
            <ul className="mt-8 list-none p-0 text-left">
              {latest.map((request) => (
                <li key={request.id} className="border-t border-line last:border-b">
                  <Link href={`/r/${request.id}`} className="flex items-baseline gap-4 px-1 py-2.5 hover:bg-well">
                    <span className="foreign-line min-w-0 flex-1">{visibleText(beginning(titleOf(request), 160))}</span>
                    <span className="shrink-0 text-[0.875rem]">{request.outcome && <OutcomeTag outcome={request.outcome} />}</span>
                    <span className="w-24 shrink-0 text-right text-[0.875rem] text-faint">{request.settled_at && <Ago at={request.settled_at} />}</span>
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </div>
  )
}
