#pragma once

#include <optional>
#include <string>

#include "api/auth/rate_limit.h"

namespace holdpoint::auth {

/// How often the password of one person may be tried. Counted for each network on its own: who
/// guesses somewhere must not keep the person out who sits elsewhere. A looser count over all
/// networks bounds what many of them can guess together. Network thread only.
class PasswordTries {
  public:
    /// Counts one try, before the work it costs. Nothing if it may be made; else the seconds until
    /// the next may.
    std::optional<int> take(const std::string& name, const std::string& peer, std::int64_t now_ms);
    /// The password was right, or nobody looked at it.
    void give_back(const std::string& name, const std::string& peer, std::int64_t now_ms);

  private:
    RateLimit here_{{5.0 / 900, 5}};
    RateLimit everywhere_{{100.0 / 3600, 100}};
};

}  // namespace holdpoint::auth
