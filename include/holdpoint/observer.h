#pragma once

#include <optional>
#include <string>

#include <holdpoint/request.h>

namespace holdpoint {

/// What became of an action that was released.
struct Ran {
    bool is_success = false;
    Json result = {};        ///< what the tool answered
    std::string error = {};  ///< why it failed
};

/// Is told what happens to every request of a Holdpoint, on the thread that asked, in this order.
/// An observer can neither hold nor release anything: what it throws is caught and written to the
/// log, and the action goes its way.
class Observer {
  public:
    virtual ~Observer() = default;

    /// A request was stored and waits for people.
    virtual void on_asked(const Request& /*request*/) {}
    /// It was settled, whatever the outcome; also when policy let it pass or refused it at once.
    virtual void on_decided(const Request& /*request*/) {}
    /// The released action was run. What was never run is not told here.
    virtual void on_ran(const Request& /*request*/, const Release& /*release*/,
                        const Ran& /*ran*/) {}
};

/// Knows better than to ask again. Asked before every action, before anything is proposed.
class Advisor {
  public:
    virtual ~Advisor() = default;

    /// A reason, in words for the model, why this action must not even be proposed; for example
    /// that a person rejected the same before. An advisor that throws refuses.
    virtual std::optional<std::string> refuses(const Action& /*action*/) { return std::nullopt; }
    /// What the next prompt should say: what to avoid, what people prefer. Empty: nothing.
    virtual std::string advice() { return {}; }
};

}  // namespace holdpoint
