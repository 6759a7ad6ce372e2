// Whether there is room for one thing only: the list, or the request.
import { useOutside } from './store'

const query = '(max-width: 767px)'

export const isPhone = (): boolean => matchMedia(query).matches

function follow(tell: () => void): () => void {
  const media = matchMedia(query)
  media.addEventListener('change', tell)
  return () => media.removeEventListener('change', tell)
}

export const useIsPhone = (): boolean => useOutside(follow, isPhone)

/**
 * On a phone the list and what is opened from it take turns: whoever listens goes on with what came up, unless the focus is on something
 * that is seen. A browser may let go of what is hidden only when it draws the page next.
 */
export function catchFocus(to: HTMLElement | null | undefined): void {
  const focused = document.activeElement
  if (isPhone() && (!focused || focused === document.body || focused.getClientRects().length === 0)) to?.focus({ preventScroll: true })
}
