// What a request is called, and what came with it.
import { Link } from 'wouter'
import { formatMoment } from '../model/time'
import { JsonView } from '../ui/json_view'
import { CopyButton } from '../ui/parts'
import type { Request } from '../wire'
import { Facts } from './facts'

export default function Technical({ request }: { request: Request }) {
  return (
    <>
      <Facts
        rows={[
          ['Request', request.id],
          ['Digest', request.digest],
          ['Session', request.session],
          ['Thread', request.thread],
          ['Task', request.task],
          ['Batch', request.batch],
          ['Asked at', formatMoment(request.created_at)],
        ]}
      />
      {request.suggested != null && request.kind !== 'input' && (
        <div className="mt-3">
          <span className="label">Suggested answer</span>
          <JsonView value={request.suggested} />
        </div>
      )}
      {request.metadata && Object.keys(request.metadata).length > 0 && (
        <div className="mt-3">
          <span className="label">Metadata</span>
          <JsonView value={request.metadata} />
        </div>
      )}
      <div className="mt-2 -ml-2 flex flex-wrap gap-1">
        <CopyButton text={location.origin + request.url} label="Copy link" />
        {request.session && (
          <Link href={`/history?session=${encodeURIComponent(request.session)}`} className="btn btn-quiet px-2 text-[0.8125rem]">
            This session’s history
          </Link>
        )}
      </div>
    </>
  )
}
