// Every event of a request: who did what, when, through which door.
import { client } from '../client'
import { isObject } from '../model/json'
import { formatMoment } from '../model/time'
import { eventWord } from '../model/words'
import { useLoad } from '../state/load'
import { JsonView } from '../ui/json_view'
import { Problem, Spinner } from '../ui/parts'
import { SafeText } from '../ui/safe_text'
import type { Request } from '../wire'

export default function Timeline({ request }: { request: Request }) {
  // Whatever changes the request has also added to its timeline.
  const version = [request.id, request.state, request.votes.length, request.expires_at, request.report?.at].join(' ')
  const { data, error, is_loading } = useLoad(`timeline ${version}`, () => client.timeline(request.id), { fresh_ms: 60_000 })
  if (is_loading) return <Spinner />
  if (!data) return <Problem error={error} />
  return (
    <ol className="m-0 list-none p-0">
      {data.events.map((event) => {
        const detail = isObject(event.detail) ? Object.fromEntries(Object.entries(event.detail).filter(([name]) => name !== 'digest')) : null
        return (
          <li key={event.seq} className="grid gap-x-4 border-l-2 border-line py-1.5 pl-4 sm:grid-cols-[9.5rem_1fr]">
            <time dateTime={event.at} className="tabular text-[0.875rem] text-faint">
              {formatMoment(event.at)}
            </time>
            <div className="min-w-0 text-[0.875rem]">
              <span className="font-medium">
                <SafeText text={event.actor || 'the server'} />
              </span>{' '}
              {eventWord[event.type]}
              <span className="text-faint">
                {event.via ? ` · ${event.via}` : ''}
                {event.address ? ` · ${event.address}` : ''}
              </span>
              {detail && Object.keys(detail).length > 0 && (
                <div className="mt-1 text-soft">
                  <JsonView value={detail} />
                </div>
              )}
            </div>
          </li>
        )
      })}
    </ol>
  )
}
