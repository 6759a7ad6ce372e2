// Names and what stands for them, one below the other.
import { SafeText } from '../ui/safe_text'

export function Facts({ rows }: { rows: [string, string | null][] }) {
  return (
    <dl className="m-0 grid gap-x-4 gap-y-1 text-[0.875rem] sm:grid-cols-[9rem_1fr]">
      {rows
        .filter((row): row is [string, string] => row[1] !== null)
        .map(([name, text]) => (
          <div key={name} className="contents">
            <dt className="text-faint">{name}</dt>
            <dd className="foreign m-0 mb-1 sm:mb-0">
              <SafeText text={text} />
            </dd>
          </div>
        ))}
    </dl>
  )
}
