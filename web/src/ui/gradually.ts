import { startTransition, useEffect, useState } from 'react'

/** How many of `total` rows to draw now: those that fill a screen first, the others a few at a time, so that the page answers in between. */
export function useGradually(total: number, step = 8): number {
  const [shown, show] = useState(step)
  useEffect(() => {
    if (shown < total) startTransition(() => show(shown + step))
  }, [shown, total, step])
  return shown
}
