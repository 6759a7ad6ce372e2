// Keeps one press from becoming two decisions. A held key repeats, and the list moves on after each decision: without
// this guard one long `a` approves everything that waits.

export const arming_ms = 400

export class Guard {
  private armed_at = 0

  /** Call when another request came under the cursor. */
  moved(now: number): void {
    this.armed_at = now + arming_ms
    // Also for whoever looks from outside, such as a test: a press before this moment does not count.
    performance.clearMarks('armed')
    performance.mark('armed', { startTime: this.armed_at })
  }

  /** True if this press may decide. */
  admits(press: { repeat: boolean }, now: number): boolean {
    return !press.repeat && now >= this.armed_at
  }
}
