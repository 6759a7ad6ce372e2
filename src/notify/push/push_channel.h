#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "notify/channel.h"
#include "notify/push/post.h"
#include "notify/push/shown.h"
#include "service/push/p256.h"

namespace holdpoint::notify::push {

using webpush::KeyPair;

/// Runs something that blocks elsewhere and its second part back on the network thread.
using Offload =
    std::function<void(std::move_only_function<void()> work, std::move_only_function<void()> then)>;

/// Web Push (RFC 8030): tells everybody who may decide a request and has subscribed a browser. Each
/// message is encrypted for its browser. For low and medium risk it carries a token with which its
/// buttons decide, once, if it shows all that is asked; else it only opens the page. Nothing is
/// sent for a session that has ended, and a subscription that its service does not know any more is
/// dropped. Network thread only, but for targets().
class PushChannel : public Channel {
  public:
    struct Options {
        KeyPair server = KeyPair::generate();  ///< VAPID
        std::string token_key;
        std::string base_url;
        std::string contact;   ///< `mailto:` or `https:`; the base URL if empty
        IsSecret is_secret{};  ///< what a message does not show, and then has no buttons
    };
    PushChannel(store::Store& store, Clock& clock, Offload offload, Post post, Options options);

    const std::string& name() const override;
    Result<void> send(core::EventKind about, const core::Request& request) override;
    bool has_targets() const override { return true; }
    Result<std::vector<std::string>> targets(store::Transaction& tx, core::EventKind about,
                                             const core::Request& request) const override;
    void deliver(core::EventKind about, std::shared_ptr<const core::Request> request,
                 const std::string& target, Done done) override;

    /// What the browser gets to read.
    std::string message(core::EventKind about, const core::Request& request,
                        const store::PushSubscription& receiver, std::int64_t badge) const;

  private:
    void send_to(core::EventKind about, const core::Request& request,
                 const store::PushSubscription& subscription, std::int64_t badge, Done done);
    void on_status(const store::PushSubscription& subscription, const Result<int>& status,
                   Done done);

    store::Store& store_;
    Clock& clock_;
    Offload offload_;
    Post post_;
    Options options_;
};

}  // namespace holdpoint::notify::push
