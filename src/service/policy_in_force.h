#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "policy/policy.h"

namespace holdpoint::service {

/// The setting that names the version to use after a restart, where no file says it.
inline constexpr const char* policy_setting = "policy";

/// The policy that judges from now on. Swapped whole: whoever judges keeps the one it began with.
/// Any thread.
class PolicyInForce {
  public:
    using Pointer = std::shared_ptr<const policy::Policy>;

    explicit PolicyInForce(Pointer policy) : policy_(std::move(policy)) {}

    Pointer current() const { return policy_.load(); }
    void replace(Pointer policy) { policy_.store(std::move(policy)); }

  private:
    std::atomic<Pointer> policy_;
};

}  // namespace holdpoint::service
