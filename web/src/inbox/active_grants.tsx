// Below the list: whoever decides here should know what passes without being asked. Fetched where something does.
import { Link } from 'wouter'
import { visibleText } from '../model/marked_text'
import { plural } from '../model/words'
import type { Grant } from '../wire'

export default function ActiveGrants({ grants }: { grants: Grant[] }) {
  const what = [...new Set(grants.map((grant) => grant.tool))]
  return (
    <p className="m-0 flex min-h-9 items-center gap-2 border-t border-line px-4 text-[0.8125rem] text-soft">
      <span className="foreign-line min-w-0 flex-1">
        {plural(grants.length, 'grant lets', 'grants let')} {visibleText(what.slice(0, 3).join(', '))}
        {what.length > 3 ? ' and more' : ''} pass
      </span>
      <Link href="/grants" className="btn-link shrink-0">
        See
      </Link>
    </p>
  )
}
