// Why a request waits, and who decides it.
import { Suspense } from 'react'
import { whoDecides } from '../model/authority'
import { Why } from '../ui/deciding'
import { Spinner } from '../ui/parts'
import type { Request } from '../wire'
import { Facts } from './facts'

export default function Verdict({ request }: { request: Request }) {
  const { verdict, requirement, risk } = request
  return (
    <>
      <Facts
        rows={[
          ['Policy says', `${verdict.kind}${verdict.because ? `: ${verdict.because}` : ''}`],
          ['Rule', verdict.rule === verdict.gate ? null : verdict.rule],
          ['Gate', verdict.gate],
          ['Decided by', whoDecides(request)],
          ['Rejections to end it', requirement.reject_threshold > 1 ? String(requirement.reject_threshold) : null],
          ['A rejection', requirement.reason_required ? 'must say why' : null],
          ['Changes', requirement.modifiable ? null : 'are not allowed'],
          ['Risk factors', risk.factors.length ? risk.factors.join('; ') : null],
          ['Votes', request.votes.length ? request.votes.map((vote) => `${vote.by}: ${vote.decision}`).join(', ') : null],
          ['Reminders', request.reminders.every_s ? `every ${request.reminders.every_s} s, ${request.reminders.sent} of ${request.reminders.max} sent` : null],
          ['Escalation', request.escalation.to ? `to ${request.escalation.to}${request.escalation.done ? ', done' : request.escalation.after_s ? ` after ${request.escalation.after_s} s` : ''}` : null],
        ]}
      />
      <Suspense fallback={<Spinner />}>
        <Why request={request} />
      </Suspense>
    </>
  )
}
