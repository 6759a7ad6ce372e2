#pragma once

#include <functional>
#include <optional>

#include "base/result.h"

namespace holdpoint::auth {

/// Runs something slow elsewhere and its second part back on the network thread.
using Offload =
    std::function<void(std::move_only_function<void()> work, std::move_only_function<void()> then)>;

/// Password hashes under way. Each takes 64 MiB and a good part of a second of one thread, and
/// anybody may ask for one: more than a few seconds' worth is refused, so that a flood of sign-ins
/// neither fills the memory nor keeps those waiting who come after it. Network thread only.
class HashQueue {
  public:
    static constexpr int waiting_max = 32;

    explicit HashQueue(Offload offload);

    /// Why nothing more is taken now; ask before run().
    std::optional<Error> full() const;
    void run(std::move_only_function<void()> work, std::move_only_function<void()> then);

  private:
    Offload offload_;
    int waiting_ = 0;
};

}  // namespace holdpoint::auth
