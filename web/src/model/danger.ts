// Words in arguments that deserve a second look. A mark is a hint to the eye, never a verdict: policy decides. Every
// repetition has a bound: what agents send must not be able to keep the page busy.

type Pattern = { what: string; expression: RegExp }

const patterns: Pattern[] = [
  { what: 'deletes files', expression: /\brm\s+(?:-\w+\s+)*-\w*[rf]\w*/gi },
  { what: 'deletes files', expression: /\b(?:shred|unlink|rmdir|del\s+\/[sq])\b/gi },
  { what: 'runs as root', expression: /\b(?:sudo|doas|su\s+-)(?=\s)/gi },
  { what: 'writes to a device', expression: /\b(?:mkfs(?:\.\w+)?|dd\s+if=\S+)|>\s*\/dev\/(?!null)\w+/gi },
  { what: 'opens permissions', expression: /\bchmod\s+(?:-R\s+)?[0-7]?777\b/gi },
  { what: 'runs what it downloads', expression: /\b(?:curl|wget)\b[^|\n]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b/gi },
  { what: 'decodes and runs', expression: /\bbase64\s+(?:-d|--decode)\b|\beval\b/gi },
  { what: 'opens a connection', expression: /\b(?:nc|ncat)\s+-\w*[el]\w*|\/dev\/tcp\//gi },
  { what: 'starts another command', expression: /\$\([^)\n]{1,200}\)|`[^`\n]{1,200}`/g },
  { what: 'rewrites history', expression: /\bgit\s+push\b[^\n]{0,80}(?:--force\b|\s-f\b)|\breset\s+--hard\b/gi },
  { what: 'destroys infrastructure', expression: /\b(?:terraform|tofu|pulumi)\s+destroy\b|\bkubectl\s+delete\b|\bhelm\s+uninstall\b/gi },
  { what: 'deletes stored objects', expression: /\baws\s+s3\s+(?:rm|rb)\b|\bgsutil\s+rm\b/gi },
  { what: 'drops data', expression: /\b(?:drop|truncate)\s+(?:table|database|schema|index|view)\s+\S+|\btruncate\s+\w+\s*;/gi },
  { what: 'deletes rows', expression: /\bdelete\s+from\s+\S+/gi },
  { what: 'changes every row', expression: /\bupdate\s+\S+\s+set\b(?![^;]{0,300}\bwhere\b)/gi },
  { what: 'grants rights', expression: /\bgrant\s+(?:all|superuser)\b|\bAdministratorAccess\b/gi },
  { what: 'leaves its folder', expression: /(?:^|[\s"'=/\\])\.\.(?:[/\\]|$)/g },
  { what: 'system file', expression: /\/etc\/(?:passwd|shadow|sudoers|crontab)\b|~?\/\.ssh\b|\bauthorized_keys\b|\bid_(?:rsa|ed25519)\b/gi },
  { what: 'holds credentials', expression: /(?:^|[\s"'=/])\.env\b|\.aws\/credentials\b|\.kube\/config\b/gi },
  { what: 'unencrypted', expression: /\bhttp:\/\/(?!localhost\b|127\.)\S+/gi },
  { what: 'script in a link', expression: /\b(?:javascript|vbscript):/gi },
  { what: 'markup that runs', expression: /<\s*(?:script|iframe|object|embed|svg\s+on\w+)\b/gi },
  { what: 'skips a check', expression: /--(?:no-verify|insecure|force|no-preserve-root|skip-\w+|yes-i-really\S*)\b/gi },
  { what: 'talks to the model', expression: /\bignore\s+(?:all\s+|any\s+)?(?:previous|prior|above|earlier)\s+\w+/gi },
  { what: 'talks to you', expression: /\b(?:please\s+)?(?:just\s+)?(?:approve|accept)\s+(?:this|it)\s+(?:now|immediately|without)\b/gi },
]

export type Danger = { start: number; end: number; what: string }

/** Every marked word, in order; where two overlap the first one stays. */
export function findDanger(text: string): Danger[] {
  const found: Danger[] = []
  for (const { what, expression } of patterns) {
    for (const match of text.matchAll(expression)) {
      const lead = match[0].length - match[0].trimStart().length
      found.push({ start: match.index + lead, end: match.index + match[0].length, what })
    }
  }
  found.sort((a, b) => a.start - b.start || b.end - a.end)
  let end = -1
  return found.filter((danger) => {
    if (danger.start < end) return false
    end = danger.end
    return true
  })
}
