import { startTransition, useEffect, useState } from 'react'
import { isPhone } from '../state/phone'

/** How many of `total` rows to draw now. On a desk all of them; on a phone those that fill a screen first, the others a few at a time, so that the page answers in between. */
export function useGradually(total: number, step = 8): number {
  const [shown, show] = useState(() => (isPhone() ? step : Infinity))
  useEffect(() => {
    if (shown < total) startTransition(() => show(shown + step))
  }, [shown, total, step])
  return shown
}
