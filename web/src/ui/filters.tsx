// Filters of a page that stand in its address, so that what is seen can be linked and found again.
import type { ReactNode } from 'react'
import { useLocation } from 'wouter'
import { HiddenHint, hintOf } from './hidden_hint'
import { useAddressQuery } from '../state/address'

export type Filters = { search: string; given: URLSearchParams; put: (name: string, value: string) => void }

export function useFilters(path: string): Filters {
  const search = useAddressQuery()
  const [, navigate] = useLocation()
  const put = (name: string, value: string) => {
    const next = new URLSearchParams(search)
    if (value) next.set(name, value)
    else next.delete(name)
    navigate(next.size ? `${path}?${next}` : path, { replace: true })
  }
  return { search, given: new URLSearchParams(search), put }
}

function Labelled({ name, label, children }: { name: string; label: string; children: ReactNode }) {
  return (
    <div>
      <label htmlFor={`by-${name}`} className="label mb-1 block">
        {label}
      </label>
      {children}
    </div>
  )
}

type TextFilterProps = { filters: Filters; name: string; label: string; kind?: 'text' | 'date'; is_read_when_left?: boolean }

/** What an address brings into a field is somebody's text: what hides in it is printed below. */
export function TextFilter({ filters: { given, put }, name, label, kind = 'text', is_read_when_left = false }: TextFilterProps) {
  const value = given.get(name) ?? ''
  const id = `by-${name}`
  const field = { id, type: kind, className: 'field', 'aria-describedby': hintOf(id, value) }
  return (
    <Labelled name={name} label={label}>
      {is_read_when_left ? (
        <input {...field} key={value} defaultValue={value} onBlur={(event) => put(name, event.target.value.trim())} onKeyDown={(event) => event.key === 'Enter' && put(name, event.currentTarget.value.trim())} />
      ) : (
        <input {...field} value={value} onChange={(event) => put(name, event.target.value)} />
      )}
      <HiddenHint id={id} text={value} />
    </Labelled>
  )
}

export function PickFilter({ filters, name, label, options }: { filters: Filters; name: string; label: string; options: [string, string][] }) {
  return (
    <Labelled name={name} label={label}>
      <select id={`by-${name}`} className="field" value={filters.given.get(name) ?? ''} onChange={(event) => filters.put(name, event.target.value)}>
        <option value="">any</option>
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </Labelled>
  )
}
