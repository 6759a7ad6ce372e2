// Loaded before libfaketime, so that the server's timers stay the kernel's.
//
// libfaketime also rewrites timerfd_settime, whatever clock the timer belongs to: a timer of the
// monotonic clock that is due at once, set as an absolute time in the past, lands ten years ahead
// while the wall clock is set ten years back, or is refused while it is set forward. The server
// would never hear of a deadline again; no clock that people set does that.
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

extern "C" int timerfd_settime(int descriptor, int flags, const itimerspec* value,
                               itimerspec* old) noexcept {
    return static_cast<int>(syscall(SYS_timerfd_settime, descriptor, flags, value, old));
}
