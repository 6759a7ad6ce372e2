#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdpoint/json.h>

namespace holdpoint {

enum class YesOrNo { yes, no, unclear };

/// Reads a person's answer in a conversation. Only plain words count: "yes", "ok", "go ahead", and
/// for no "no", "cancel", "don't" and their like. Anything more than that, and silence, is unclear.
YesOrNo read_yes_or_no(std::string_view text);

/// An action that waits for a person's yes in the conversation.
struct AwaitingConfirmation {
    std::string tool = {};
    Json arguments = {};
    std::string text = {};  ///< what would happen, in the tool's words, on one line
};

/// What the person must be shown: each action in its own words, numbered where there are several,
/// and how to say yes. Nothing for nothing.
std::string confirmation_text(const std::vector<AwaitingConfirmation>& waiting);

/// What a yes made: the action, and the token that its call must carry.
struct ConfirmedAction {
    std::string token = {};
    std::string tool = {};
    Json arguments = {};
};

/// Confirmation in the conversation (Q12): a first call says what would happen; the person is shown
/// that, word for word, whatever the model says beside it; their yes makes a token that is good for
/// that exact action, once; only the call that carries it runs. A model that sets `confirmed` by
/// itself gets nothing but another question. Any thread.
class ConfirmationDesk {
  public:
    /// Notes that this action waits for a person's word, and what would happen. Arguments of more
    /// than 4,000 bytes are more than anybody reads in a conversation: such an action waits in
    /// vain.
    void ask(const std::string& tool, const Json& arguments, std::string_view would_happen);

    /// What waits. The caller shows all of it to the person now: only what was shown can be
    /// confirmed, by the next thing that the person writes.
    std::vector<AwaitingConfirmation> show();
    /// What waits was not shown, and cannot be confirmed.
    void forget();

    /// A person wrote this. A clear yes to the one action that was shown gives its token; where
    /// several were shown the yes must say which: `yes 2`, `yes 1 and 3`, `yes to all`. Whatever
    /// else is written, nothing waits afterwards.
    std::vector<ConfirmedAction> hear(std::string_view person_wrote);

    /// Whether the token stands for this action; it is used up either way.
    bool redeem(const std::string& token, const std::string& tool, const Json& arguments);

  private:
    std::mutex mutex_;
    std::vector<AwaitingConfirmation> waiting_;  // guarded by mutex_
    std::vector<AwaitingConfirmation> shown_;    // guarded by mutex_
    std::map<std::string, std::string> tokens_;  // guarded by mutex_; token -> action
};

/// What a model must be told to work with such tools (A8).
std::string confirmation_prompt(const std::vector<std::string>& tools);

}  // namespace holdpoint
