#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <holdpoint/request.h>
#include <holdpoint/result.h>

namespace holdpoint {

/// Something that people should see and need not answer.
struct Notification {
    std::string text;
    RiskLevel level = RiskLevel::low;
    std::string request_id = {};
};

/// How an embedded Holdpoint reaches its people. It asks from one thread of its own, one request
/// after the other; send_notification() also comes from whoever calls Holdpoint::notify(), at any
/// time. Whatever fails or throws here counts as "nobody is there".
class HumanInterface {
  public:
    virtual ~HumanInterface() = default;

    /// Whether anybody can be asked right now.
    virtual bool is_available() = 0;
    /// Asks for a decision and waits for it, until `stop`: the request was settled another way, or
    /// its time is over. Nothing means "not now": the request stays pending, and may be decided
    /// with Holdpoint::decide() or run into its deadline.
    virtual Result<std::optional<Decision>> request_approval(const Request& request,
                                                             std::stop_token stop) = 0;
    /// The same for a question; the answer is checked against its type afterwards.
    virtual Result<std::optional<Decision>> request_input(const Request& question,
                                                          std::stop_token stop) = 0;
    virtual void send_notification(const Notification& notification) = 0;
};

enum class PromptStyle { detailed, compact };

struct ConsoleOptions {
    PromptStyle style = PromptStyle::detailed;
    /// Not said: colour on a terminal unless NO_COLOR is set or TERM is `dumb`.
    std::optional<bool> is_coloured = {};
    std::string person = {};  ///< who sits there; the user's login name if empty
    /// Descriptors of the terminal. Where the input is no terminal nobody is available: what is
    /// piped into a program must not be taken for a person's word.
    int input = 0;
    int output = 1;
    bool may_be_piped = false;  ///< for scripts that know what they do, and for tests
};

/// Asks on the terminal: a approve, r reject, m modify, d defer, e escalate, x abort.
std::shared_ptr<HumanInterface> make_console(ConsoleOptions options = {});

/// What an application does itself; functions that are not set answer "not now" or do nothing.
struct Callbacks {
    std::function<std::optional<Decision>(const Request&, std::stop_token)> approval = {};
    std::function<std::optional<Decision>(const Request&, std::stop_token)> input = {};
    std::function<void(const Notification&)> notification = {};
    std::function<bool()> is_available = {};  ///< not set: whenever `approval` is
};
std::shared_ptr<HumanInterface> make_callback(Callbacks callbacks);

class Holdpoint;
/// The people of a Holdpoint server: policy and gates of this process, decisions made there. The
/// action is proposed to the server under the id of the local request, so that asking twice asks
/// once.
std::shared_ptr<HumanInterface> make_remote(Holdpoint server);

}  // namespace holdpoint
