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

/// Confirmation in the conversation (Q12): a first call says what would happen; a person's yes
/// makes a token that is good for that exact action, once; only the call that carries it runs. A
/// model that sets `confirmed` by itself gets nothing but another question. Any thread.
class ConfirmationDesk {
  public:
    /// Notes that this action waits for a person's word. Where several wait, a yes has no meaning.
    void ask(const std::string& tool, const Json& arguments);

    /// A person wrote this. A clear yes to the one action that waits gives its token; whatever else
    /// is written, nothing waits afterwards.
    std::optional<std::string> hear(std::string_view person_wrote);

    /// Whether the token stands for this action; it is used up either way.
    bool redeem(const std::string& token, const std::string& tool, const Json& arguments);

  private:
    std::mutex mutex_;
    std::vector<std::string> waiting_;           // guarded by mutex_; actions
    std::map<std::string, std::string> tokens_;  // guarded by mutex_; token -> action
};

/// What a model must be told to work with such tools (A8).
std::string confirmation_prompt(const std::vector<std::string>& tools);

}  // namespace holdpoint
