#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "policy/compile.h"
#include "policy/policy.h"

namespace holdpoint::service {

/// The setting that names the version to use after a restart, where no file says it.
inline constexpr const char* policy_setting = "policy";

/// The policy that judges from now on. Swapped whole: whoever judges keeps the one it began with.
/// Any thread.
class PolicyInForce {
  public:
    using Pointer = std::shared_ptr<const policy::Policy>;

    /// `is_switched_off`: the master switch stands above every policy that comes.
    explicit PolicyInForce(Pointer policy, bool is_switched_off = false)
        : is_switched_off_(is_switched_off) {
        replace(std::move(policy));
    }

    Pointer current() const {
        const std::lock_guard lock(mutex_);
        return policy_;
    }
    void replace(Pointer policy) {
        if (is_switched_off_ && !policy->file.is_disabled) policy = policy::switched_off(*policy);
        const std::lock_guard lock(mutex_);
        policy_.swap(policy);
    }

  private:
    const bool is_switched_off_;
    // Not std::atomic<shared_ptr>: that of libstdc++ 12 lets go of its lock without ordering.
    mutable std::mutex mutex_;
    Pointer policy_;  // guarded by mutex_
};

}  // namespace holdpoint::service
