// Filters of a page that stand in its address, so that what is seen can be linked and found again.
import type { ReactNode } from 'react'
import { useLocation } from 'wouter'
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

export function Labelled({ name, label, children }: { name: string; label: string; children: ReactNode }) {
  return (
    <div>
      <label htmlFor={`by-${name}`} className="label mb-1 block">
        {label}
      </label>
      {children}
    </div>
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
