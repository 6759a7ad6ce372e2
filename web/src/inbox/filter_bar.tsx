import { memo, useEffect, useMemo, useRef, useState } from 'react'
import { isFiltering, no_filter, type Filter } from '../model/filter'
import { beginning } from '../model/fold'
import { visibleText } from '../model/marked_text'
import { kinds, kindWord, risks } from '../model/words'
import { useInbox } from '../state/inbox'
import { useKeys } from '../state/keys'
import { CloseIcon, SearchIcon } from '../ui/icons'

type Props = { filter: Filter; onChange: (filter: Filter) => void }

function Pick({ label, value, options, onPick }: { label: string; value: string | null; options: [string, string][]; onPick: (value: string | null) => void }) {
  return (
    <select
      aria-label={label}
      className={`min-h-7 max-w-36 rounded-full border px-2 [field-sizing:content] text-[0.8125rem] ${value ? 'border-accent bg-pick font-medium text-ink' : 'border-line bg-sheet text-soft'}`}
      value={value ?? ''}
      onChange={(event) => onPick(event.target.value || null)}
    >
      <option value="">{label}</option>
      {options.map(([key, text]) => (
        <option key={key} value={key}>
          {text}
        </option>
      ))}
    </select>
  )
}

const chip = (is_on: boolean) =>
  `min-h-7 rounded-full border px-2.5 text-[0.8125rem] ${is_on ? 'border-accent bg-pick font-medium text-ink' : 'border-line bg-sheet text-soft hover:border-edge'}`

function useNames(): { agents: string[]; tools: string[] } {
  const requests = useInbox((inbox) => inbox.requests)
  return useMemo(() => {
    const agents = new Set<string>()
    const tools = new Set<string>()
    for (const request of requests.values()) {
      agents.add(request.agent)
      if (request.action) tools.add(request.action.tool)
    }
    return { agents: [...agents].sort(), tools: [...tools].sort() }
  }, [requests])
}

export const FilterBar = memo(function FilterBar({ filter, onChange }: Props) {
  const field = useRef<HTMLInputElement>(null)
  const { agents, tools } = useNames()
  const [text, setText] = useState(filter.text)
  useEffect(() => setText(filter.text), [filter.text])
  useKeys({ '/': () => field.current?.focus() })
  const named = (names: string[]): [string, string][] => names.slice(0, 200).map((name) => [name, visibleText(beginning(name, 60))])
  return (
    <div role="search" className="border-b border-line px-3 pb-2.5 pt-3">
      <div className="relative">
        <span className="pointer-events-none absolute left-2.5 top-1/2 -translate-y-1/2 text-faint">
          <SearchIcon />
        </span>
        <input
          ref={field}
          type="search"
          aria-label="Search what waits"
          placeholder="Search what waits"
          className="field pl-8 pr-8"
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            onChange({ ...filter, text: event.target.value })
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape' || event.key === 'Enter' || event.key === 'ArrowDown') {
              event.preventDefault()
              document.getElementById('requests')?.focus()
            }
          }}
        />
        <kbd aria-hidden="true" className="key pointer-events-none absolute right-2.5 top-1/2 hidden -translate-y-1/2 text-faint lg:block">
          /
        </kbd>
      </div>
      <div className="mt-2 flex flex-wrap gap-1.5">
        <Pick label="Risk" value={filter.risk} options={risks.map((risk) => [risk, risk])} onPick={(risk) => onChange({ ...filter, risk: risk as Filter['risk'] })} />
        <Pick label="Kind" value={filter.kind} options={kinds.map((kind) => [kind, kindWord[kind]])} onPick={(kind) => onChange({ ...filter, kind: kind as Filter['kind'] })} />
        {(agents.length > 1 || filter.agent) && <Pick label="Agent" value={filter.agent} options={named(agents)} onPick={(agent) => onChange({ ...filter, agent })} />}
        {(tools.length > 1 || filter.tool) && <Pick label="Tool" value={filter.tool} options={named(tools)} onPick={(tool) => onChange({ ...filter, tool })} />}
        <button type="button" aria-pressed={filter.mine} className={chip(filter.mine)} onClick={() => onChange({ ...filter, mine: !filter.mine })}>
          For me
        </button>
        {isFiltering(filter) && (
          <button type="button" className="inline-flex min-h-7 items-center gap-1 px-1.5 text-[0.8125rem] text-accent" onClick={() => onChange(no_filter)}>
            <CloseIcon /> Clear
          </button>
        )}
      </div>
    </div>
  )
})
