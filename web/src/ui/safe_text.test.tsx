import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { LongText, SafeText } from './safe_text'

const exact = (text: string) => renderToStaticMarkup(<LongText text={text} is_exact />)

it('H6 words from right to left turn round themselves, and no number or sign beside them', () => {
  expect(exact('א 50 70')).toBe('<bdi dir="ltr"><span dir="rtl">א</span> 50 70</bdi>')
  expect(exact('עברית abc שלום עולם/1')).toBe('<bdi dir="ltr"><span dir="rtl">עברית</span> abc <span dir="rtl">שלום עולם</span>/1</bdi>')
  expect(exact('مرحبا rm -rf /')).toMatch(/^<bdi dir="ltr"><span dir="rtl">مرحبا<\/span> <mark class="danger-word"[^>]*>rm -rf<\/mark> \/<\/bdi>$/)
  // Nothing else is taken apart.
  expect(exact('plain Ωμέγα 12')).toBe('<bdi dir="ltr">plain Ωμέγα 12</bdi>')
})

it('H6 a sentence runs as it is written', () => {
  expect(renderToStaticMarkup(<SafeText text="א 50 70" />)).toBe('<bdi>א 50 70</bdi>')
})
