// An address at which there is no page: whoever mistyped it, signed in or not, finds the way from here.
import { Link } from 'wouter'
import { Mark } from '../ui/icons'

export default function LostScreen() {
  return (
    <main id="main" tabIndex={-1} className="flex h-full min-h-0 flex-1 overflow-auto">
      <div className="m-auto w-full max-w-xl px-6 py-16 text-center">
        <span className="inline-block text-accent">
          <Mark size={56} />
        </span>
        <h1 className="mt-3 text-[1.625rem] leading-8 tracking-tight">There is no such page</h1>
        <p className="mb-0 mt-2 text-soft">The address in your browser leads nowhere. It may be mistyped or old.</p>
        <Link href="/" className="btn btn-yes mt-6 min-h-11 px-5 md:min-h-10">
          To the inbox
        </Link>
      </div>
    </main>
  )
}
