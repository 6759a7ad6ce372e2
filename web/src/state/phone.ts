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
