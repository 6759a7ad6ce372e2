#include "api/auth/password_tries.h"

#include "api/auth/address.h"

namespace holdpoint::auth {
namespace {

/// No name has a line break.
std::string place(const std::string& name, const std::string& peer) {
    return network_of(peer) + '\n' + name;
}

}  // namespace

std::optional<int> PasswordTries::take(const std::string& name, const std::string& peer,
                                       std::int64_t now_ms) {
    const std::string here = place(name, peer);
    if (const std::optional<int> wait = here_.take(here, now_ms)) return wait;
    const std::optional<int> wait = everywhere_.take(name, now_ms);
    if (wait) here_.give_back(here, now_ms);
    return wait;
}

void PasswordTries::give_back(const std::string& name, const std::string& peer,
                              std::int64_t now_ms) {
    here_.give_back(place(name, peer), now_ms);
    everywhere_.give_back(name, now_ms);
}

}  // namespace holdpoint::auth
