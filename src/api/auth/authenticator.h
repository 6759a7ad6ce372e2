#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "api/auth/caller.h"
#include "api/auth/rate_limit.h"
#include "api/http/http.h"
#include "base/clock.h"
#include "base/result.h"
#include "service/identity.h"
#include "store/store.h"

namespace holdpoint::auth {

/// Refuses what a browser says comes from another site's page. Clients that are no browsers say
/// nothing and pass.
std::optional<Error> check_origin(const http::Request& request);

/// The value of one cookie; empty if absent, nothing if it is there twice.
std::optional<std::string_view> find_cookie(std::string_view header, std::string_view name);

/// Finds out who calls. A credential that was good a moment ago is remembered for `memory_ms`, so
/// that the busy path does not ask the store each time; whatever changes an identity calls
/// forget(). Wrong credentials are counted per address. Network thread only.
class Authenticator {
  public:
    struct Options {
        RateLimit::Rule failures{0.2, 20};   ///< wrong credentials per address
        RateLimit::Rule per_key{0, 1};       ///< calls per credential
        RateLimit::Rule per_address{0, 1};   ///< calls per address
        RateLimit::Rule per_cookie{2, 120};  ///< decisions and changes of a signed-in person
        RateLimit::Rule decisions_per_key{5000, 50000};
    };
    using Done = std::move_only_function<void(Result<Caller>)>;

    Authenticator(store::Store& store, Clock& clock, Options options);

    /// Calls `done` at once when it can, else after asking the store.
    void authenticate(const http::Request& request, Done done);

    /// Asks the store whether a credential is still good; for streams, when identities changed.
    void recheck(const std::string& credential, bool is_cookie,
                 std::move_only_function<void(bool is_good)> done);

    /// Refuses a change by a browser that changes more than a person can. Keys have limits of their
    /// own.
    std::optional<Error> check_change(const Caller& caller);
    /// Refuses a decision of a key that decides faster than anybody looks. Signed-in people have
    /// a limit of their own.
    std::optional<Error> check_decision(const Caller& caller);
    /// Counts what a call carries besides the one decision that check_decision() let in. It is not
    /// refused, else a call of many would never pass a low limit; the key waits the longer after
    /// it.
    void count_more_decisions(const Caller& caller, std::size_t count);

    void forget() { known_.clear(); }

    /// The name of the session cookie; over TLS it cannot be set by anybody but this host.
    static std::string_view cookie_name(bool is_tls);

    /// Takes one call of this address, for what needs no credential; authenticate() does so itself.
    std::optional<Error> check_address(const std::string& peer);

    /// A failed sign-in counts like a wrong credential.
    void count_failure(const std::string& peer);
    std::optional<Error> check_failures(const std::string& peer);
    /// Both at once, for what costs work to find out: it counts as failed until it is given back,
    /// so that those who come together are counted, too.
    std::optional<Error> take_failure(const std::string& peer);
    void give_back_failure(const std::string& peer);

  private:
    struct Credential {
        std::string hash;
        bool is_cookie = false;
    };
    struct Known {
        Caller caller;
        std::int64_t until_ms;
    };

    Result<Credential> read_credential(const http::Request& request) const;
    std::optional<Error> check_cookie(const http::Request& request, const Caller& caller);
    std::optional<Error> check_rate(const Caller& caller);
    Result<Caller> admit(const http::Request& request, Caller caller);
    void note_seen(const service::Authenticated& found, const Credential& credential);
    void ask_store(Credential credential, std::string peer, Done done);

    store::Store& store_;
    Clock& clock_;
    RateLimit failures_;
    RateLimit per_key_;
    RateLimit per_address_;
    RateLimit per_cookie_;
    RateLimit decisions_per_key_;
    std::unordered_map<std::string, Known> known_;
};

}  // namespace holdpoint::auth
