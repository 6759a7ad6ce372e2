// Answers to questions: what a person filled in, checked as the server will check it.
import { parseNumber } from './json'
import type { Input, Json } from '../wire'

export const file_bytes_max = 128 * 1024

const name_bytes_max = 200

export type FileAnswer = { name: string; media_type: string; content_base64: string }
export type Draft = { text: string; chosen: string[]; file: FileAnswer | 'reading' | 'refused' | null }

export function draftFor(input: Input): Draft {
  const given = input.default
  return {
    text: typeof given === 'string' || typeof given === 'number' ? String(given) : '',
    chosen: Array.isArray(given) ? given.filter((item): item is string => typeof item === 'string') : typeof given === 'string' ? [given] : [],
    file: null,
  }
}

/** What the agent suggests as the answer, as a person would fill it in. Null where it suggests nothing that fits the question. */
export function suggestedDraft(input: Input, suggested: Json): Draft | null {
  const given = (Array.isArray(suggested) ? suggested : [suggested]).filter((one) => typeof one === 'string' || typeof one === 'number').map(String)
  const [first] = given
  if (input.type === 'file' || first === undefined) return null
  const draft = { text: first, chosen: given, file: null }
  return 'error' in checkAnswer(input, draft) || ((input.type === 'choice' || input.type === 'multi_choice') && given.some((one) => !input.options?.includes(one))) ? null : draft
}

/** As much of a file's name as the server takes, which counts bytes. Never ends within a character. */
export const fileName = (name: string): string => name.slice(0, new TextEncoder().encodeInto(name, new Uint8Array(name_bytes_max)).read)

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

/** The server counts bytes. */
export function tooLong(text: string, bytes_max: number): string | null {
  const over = bytesOf(text) - bytes_max
  return over > 0 ? `Too long by ${over} of ${bytes_max} bytes.` : null
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (!match) return false
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

type Checked = { value: Json } | { error: string }

function checkNumber(input: Input, text: string): Checked {
  // As it was typed, or not at all.
  const read = parseNumber(text)
  if ('error' in read) return { error: `${read.error.charAt(0).toUpperCase()}${read.error.slice(1)}.` }
  const number = read.value
  if (typeof input.min === 'number' && number < input.min) return { error: `Must be at least ${input.min}.` }
  if (typeof input.max === 'number' && number > input.max) return { error: `Must be at most ${input.max}.` }
  return { value: number }
}

/** The answer to send, or what is wrong with it. An optional question may be answered with nothing, and `is_half` of one is not that. */
export function checkAnswer(input: Input, draft: Draft, is_half = false): Checked {
  const nothing: Checked = input.required ? { error: 'An answer is needed.' } : { value: null }
  switch (input.type) {
    case 'text': {
      if (!draft.text) return nothing
      const error = typeof input.max_length === 'number' ? tooLong(draft.text, input.max_length) : null
      return error ? { error } : { value: draft.text }
    }
    case 'number':
      return draft.text.trim() ? checkNumber(input, draft.text.trim()) : nothing
    case 'date':
      if (!draft.text && !is_half) return nothing
      return isDate(draft.text) ? { value: draft.text } : { error: 'Must be a day, like 2026-11-15.' }
    case 'choice': {
      const [choice] = draft.chosen
      return choice === undefined ? nothing : { value: choice }
    }
    case 'multi_choice':
      if (draft.chosen.length === 0) return nothing
      return { value: (input.options ?? []).filter((option) => draft.chosen.includes(option)) }
    case 'file':
      // Not nothing: whoever chose a file means it, also where the question may stay without an answer.
      if (draft.file === 'reading') return { error: 'The file is still being read.' }
      if (draft.file === 'refused') return { error: `This file cannot be sent. Choose another one${input.required ? '' : ', or clear it'}.` }
      return draft.file ? { value: draft.file } : nothing
  }
}
