// Keeps one press from becoming two decisions. A held key repeats, and the list moves on after each decision: without
// this guard one long `a` approves everything that waits.

/** A key press, or a click: only a click by a pointer has a `detail`, the how manieth it is in quick succession. */
export type Press = { repeat?: boolean; detail?: number }

const key_arming_ms = 400
// A pointer stays where it was, and a slow double click takes half a second.
export const arming_ms = 650

export class Guard {
  private moved_at = -Infinity

  /** Call when another request came under the cursor. */
  moved(now: number): void {
    this.moved_at = now
    // Also for whoever looks from outside, such as a test: a press before this moment does not count.
    performance.clearMarks('armed')
    performance.mark('armed', { startTime: now + arming_ms })
  }

  /** True if this press may decide. */
  admits({ repeat = false, detail = 0 }: Press, now: number): boolean {
    return !repeat && detail < 2 && now >= this.moved_at + (detail ? arming_ms : key_arming_ms)
  }
}
