// The number a person types to release something critical. It follows from the digest, so it belongs to exactly what
// is on the screen; it proves attention, not identity.

export function codeOf(digest: string): string {
  const bits = Number.parseInt(digest.replace(/^sha256:/, '').slice(0, 8), 16)
  return String(Number.isNaN(bits) ? 0 : bits % 10_000).padStart(4, '0')
}
