// The few pictures of this page, drawn here so that nothing is fetched for them.
import type { ReactNode } from 'react'
import type { RiskLevel } from '../wire'

function Icon({ children, size = 18 }: { children: ReactNode; size?: number }) {
  return (
    <svg aria-hidden="true" width={size} height={size} viewBox="0 0 20 20" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" className="shrink-0">
      {children}
    </svg>
  )
}

/** The fermata: in music the sign to hold until the conductor lets go. */
export const Mark = ({ size = 22 }: { size?: number }) => (
  <svg aria-hidden="true" width={size} height={size} viewBox="0 0 24 24" className="shrink-0">
    <path d="M2.5 17.5C2.5 10.6 6.6 6 12 6s9.5 4.6 9.5 11.5" fill="none" stroke="currentColor" strokeWidth="2.4" strokeLinecap="round" />
    <circle cx="12" cy="16" r="2.6" fill="currentColor" />
  </svg>
)

const filled: Record<RiskLevel, number> = { low: 1, medium: 2, high: 3, critical: 4 }

// With round corners, each higher than the one before. Every row of a list has them, so they are two shapes and not four.
const bars = [0, 1, 2, 3].map((i) => {
  const side = 3.4 + i * 3.3
  return `M${i * 4 + 0.8} ${11 - i * 3.3}h1.4a.8.8 0 0 1 .8.8v${side}a.8.8 0 0 1-.8.8h-1.4a.8.8 0 0 1-.8-.8v${-side}a.8.8 0 0 1 .8-.8z`
})

/** Four bars, as many filled as there is risk: readable without colour. */
export function RiskBars({ level, size = 16 }: { level: RiskLevel; size?: number }) {
  return (
    <svg aria-hidden="true" width={size} height={size} viewBox="0 0 16 16" className="shrink-0">
      <path d={bars.slice(0, filled[level]).join('')} fill="currentColor" />
      <path d={bars.slice(filled[level]).join('')} fill="currentColor" opacity="0.22" />
    </svg>
  )
}

export const InboxIcon = () => <Icon><path d="M3 11.5 5 4h10l2 7.5V16H3zM3 11.5h4a3 3 0 0 0 6 0h4" /></Icon>
export const HistoryIcon = () => <Icon><path d="M3.5 10a6.5 6.5 0 1 0 2-4.7M3.5 3.5v3h3M10 6.5V10l2.5 1.5" /></Icon>
export const ChartIcon = () => <Icon><path d="M3 17V3M3 17h14M7 14V9M11 14V5M15 14v-3" /></Icon>
export const PeopleIcon = () => <Icon><circle cx="7.5" cy="7" r="2.8" /><path d="M2.5 16.5c.4-3 2.4-4.5 5-4.5s4.6 1.5 5 4.5M13 4.5a2.6 2.6 0 0 1 0 5M14.5 12.2c1.7.500 2.8 1.9 3 4.3" /></Icon>
export const GearIcon = () => <Icon><path d="M3 6h7M14 6h3M3 14h3M10 14h7" /><circle cx="12" cy="6" r="2" /><circle cx="8" cy="14" r="2" /></Icon>
export const ChatIcon = () => <Icon><path d="M3 5.500A1.500 1.500 0 0 1 4.500 4h11A1.500 1.500 0 0 1 17 5.500v7a1.500 1.500 0 0 1-1.500 1.500H9l-4 3v-3h-.500A1.500 1.500 0 0 1 3 12.500zM7 8h6M7 10.800h4" /></Icon>
export const KeyIcon = () => <Icon><circle cx="6.5" cy="12.5" r="3.2" /><path d="m9 10.500 7.500-7M13 6.500l2 2M15 4.500l1.500 1.500" /></Icon>
export const BookIcon = () => <Icon><path d="M4 4.500A1.500 1.500 0 0 1 5.500 3H16v11H5.500A1.500 1.500 0 0 0 4 15.500zM4 15.500A1.500 1.500 0 0 0 5.500 17H16M8 7h5" /></Icon>
export const ListIcon = () => <Icon><path d="M7.500 5H17M7.500 10H17M7.500 15H17M3.500 5h.01M3.500 10h.01M3.500 15h.01" /></Icon>
export const SearchIcon = () => <Icon size={16}><circle cx="9" cy="9" r="5.5" /><path d="m13.2 13.2 3.8 3.8" /></Icon>
export const CloseIcon = () => <Icon size={16}><path d="m5 5 10 10M15 5 5 15" /></Icon>
export const BackIcon = () => <Icon><path d="M12 4 6 10l6 6" /></Icon>
export const CheckIcon = () => <Icon size={16}><path d="m4 10.5 4 4 8-9" /></Icon>
export const MoreIcon = () => <Icon><path d="M4.5 10h.01M10 10h.01M15.5 10h.01" strokeWidth="2.6" /></Icon>
export const UpIcon = () => <Icon size={16}><path d="M10 16V4M5 9l5-5 5 5" /></Icon>
export const DownIcon = () => <Icon size={16}><path d="M10 4v12M5 11l5 5 5-5" /></Icon>
export const StackIcon = () => <Icon size={16}><path d="M3 7.5 10 4l7 3.5-7 3.5zM3 11.5 10 15l7-3.5" /></Icon>
export const WarnIcon = () => <Icon><path d="M10 3.5 18 16.5H2zM10 8.5v3.5M10 14.3h.01" /></Icon>
export const CopyIcon = () => <Icon size={16}><rect x="7" y="7" width="9.5" height="9.5" rx="1.5" /><path d="M4.5 12.5H4A1.5 1.5 0 0 1 2.5 11V4A1.5 1.5 0 0 1 4 2.5h7A1.5 1.5 0 0 1 12.5 4v.500" /></Icon>
export const PlugIcon = () => <Icon size={16}><path d="M7 3v4M13 3v4M5 7h10v2.5a5 5 0 0 1-10 0zM10 14.5V18" /></Icon>
