#include <fmt/format.h>
#include <holdpoint/confirmation.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace holdpoint {
namespace {

constexpr std::array yes_words{"yes",  "y",       "yeah",     "yep",     "ok",        "okay",
                               "sure", "proceed", "go ahead", "confirm", "confirmed", "do it"};
constexpr std::array no_words{"no",    "n",    "nope",   "cancel",    "stop",
                              "abort", "dont", "do not", "nevermind", "never mind"};
constexpr std::array fillers{"please", "thanks", "thank you"};

/// Lower case, letters and single blanks only; an apostrophe joins.
std::string plain(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\'') continue;
        if (byte >= 0x80) return "?";  // words of other languages are not guessed at
        if (std::isalnum(byte) != 0)
            out += static_cast<char>(std::tolower(byte));
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

/// Takes one of the phrases off the front; false if none stands there.
template <class Phrases>
bool take(std::string& text, const Phrases& phrases) {
    std::string_view longest;
    for (const std::string_view phrase : phrases) {
        const bool is_front = text.starts_with(phrase) &&
                              (text.size() == phrase.size() || text[phrase.size()] == ' ');
        if (is_front && phrase.size() > longest.size()) longest = phrase;
    }
    if (longest.empty()) return false;
    text.erase(0, std::min(text.size(), longest.size() + 1));
    return true;
}

std::string action_of(const std::string& tool, const Json& arguments) {
    return Json::array({tool, arguments}).dump();
}

std::string new_token() {
    std::array<unsigned char, 16> bytes{};
    randombytes_buf(bytes.data(), bytes.size());
    std::string token = "cnf_";
    for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
    return token;
}

}  // namespace

YesOrNo read_yes_or_no(std::string_view text) {
    if (text.find('?') != std::string_view::npos) return YesOrNo::unclear;
    std::string rest = plain(text);
    bool has_yes = false, has_no = false;
    while (!rest.empty()) {
        if (take(rest, yes_words))
            has_yes = true;
        else if (take(rest, no_words))
            has_no = true;
        else if (!take(rest, fillers))
            return YesOrNo::unclear;
    }
    if (has_no && !has_yes) return YesOrNo::no;
    return has_yes && !has_no ? YesOrNo::yes : YesOrNo::unclear;
}

void ConfirmationDesk::ask(const std::string& tool, const Json& arguments) {
    const std::lock_guard lock(mutex_);
    const std::string action = action_of(tool, arguments);
    if (std::find(waiting_.begin(), waiting_.end(), action) == waiting_.end())
        waiting_.push_back(action);
}

std::optional<std::string> ConfirmationDesk::hear(std::string_view person_wrote) {
    const std::lock_guard lock(mutex_);
    const std::vector<std::string> waiting = std::exchange(waiting_, {});
    tokens_.clear();  // a token is for the next turn, not for later
    if (waiting.size() != 1 || read_yes_or_no(person_wrote) != YesOrNo::yes) return std::nullopt;
    const std::string token = new_token();
    tokens_.emplace(token, waiting.front());
    return token;
}

bool ConfirmationDesk::redeem(const std::string& token, const std::string& tool,
                              const Json& arguments) {
    const std::lock_guard lock(mutex_);
    const auto found = tokens_.find(token);
    if (found == tokens_.end()) return false;
    const std::string action = std::move(found->second);
    tokens_.erase(found);
    return action == action_of(tool, arguments);
}

std::string confirmation_prompt(const std::vector<std::string>& tools) {
    std::string names;
    for (const std::string& tool : tools) names += (names.empty() ? "`" : ", `") + tool + "`";
    return fmt::format(
        "Some tools destroy things and are confirmed in the conversation: {}.\n"
        "1. Call the tool with its arguments only. Nothing happens yet; the answer has "
        "`requiresConfirmation` and says what would happen.\n"
        "2. Stop. Tell the person what would happen and ask whether to go on. End your turn "
        "there.\n"
        "3. If the person says yes, you are given a confirmation token. Call the tool again with "
        "the "
        "very same arguments, `confirmed: true` and `confirmation_token`.\n"
        "`confirmed: true` without the token does nothing. Silence, or an answer that is not a "
        "clear "
        "yes, means no: leave it. One yes is for one action.",
        names);
}

}  // namespace holdpoint
