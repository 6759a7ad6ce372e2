#include <fmt/format.h>
#include <holdpoint/confirmation.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include "base/text.h"

namespace holdpoint {
namespace {

constexpr std::array yes_words{"yes",  "y",       "yeah",     "yep",     "ok",        "okay",
                               "sure", "proceed", "go ahead", "confirm", "confirmed", "do it"};
constexpr std::array no_words{"no",    "n",    "nope",   "cancel",    "stop",
                              "abort", "dont", "do not", "nevermind", "never mind"};
constexpr std::array fillers{"please", "thanks", "thank you"};
constexpr std::array all_words{"all", "to all", "all of them", "to all of them"};
constexpr std::array joints{"and", "to", "number"};

constexpr std::size_t waiting_max = 10;
constexpr std::size_t text_bytes_max = 2000;
constexpr std::size_t arguments_bytes_max = 4000;

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

/// Takes a number between 1 and `count` off the front; 0 if none stands there.
std::size_t take_number(std::string& text, std::size_t count) {
    std::size_t number = 0;
    std::size_t digits = 0;
    while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) != 0 &&
           number <= count)
        number = number * 10 + static_cast<std::size_t>(text[digits++] - '0');
    const bool is_whole = digits > 0 && (digits == text.size() || text[digits] == ' ');
    if (!is_whole || number > count) return 0;
    text.erase(0, std::min(text.size(), digits + 1));
    return number;
}

/// Which of `count` actions a person's words confirm.
std::set<std::size_t> confirmed_places(std::string_view text, std::size_t count) {
    if (count == 1 && read_yes_or_no(text) == YesOrNo::yes) return {0};
    if (count < 2 || text.find('?') != std::string_view::npos) return {};
    std::set<std::size_t> places;
    bool has_yes = false;
    for (std::string rest = plain(text); !rest.empty();) {
        if (take(rest, yes_words)) {
            has_yes = true;
        } else if (take(rest, all_words)) {
            for (std::size_t at = 0; at < count; ++at) places.insert(at);
        } else if (const std::size_t number = take_number(rest, count)) {
            places.insert(number - 1);
        } else if (!take(rest, fillers) && !take(rest, joints)) {
            return {};  // anything more than that, and any no, is no clear yes
        }
    }
    return has_yes ? places : std::set<std::size_t>{};
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

std::string confirmation_text(const std::vector<AwaitingConfirmation>& waiting) {
    const auto line = [](const AwaitingConfirmation& one) {
        return fmt::format("{} [{} {}]", one.text, visible(one.tool),
                           visible(one.arguments.dump()));
    };
    if (waiting.empty()) return "";
    if (waiting.size() == 1) return fmt::format("Waits for your yes: {}", line(waiting.front()));
    std::string text = "Wait for your yes:";
    for (std::size_t i = 0; i < waiting.size(); ++i)
        text += fmt::format("\n  {}. {}", i + 1, line(waiting[i]));
    return text + "\nSay which: `yes 1`, `yes 1 and 2`, `yes to all`.";
}

void ConfirmationDesk::ask(const std::string& tool, const Json& arguments,
                           std::string_view would_happen) {
    const std::lock_guard lock(mutex_);
    const bool is_known = std::ranges::any_of(waiting_, [&](const AwaitingConfirmation& one) {
        return one.tool == tool && one.arguments == arguments;
    });
    const bool is_readable = arguments.dump().size() <= arguments_bytes_max;
    // Arguments are the model's: none of them may begin a line of its own or hide a part.
    if (is_readable && !is_known && waiting_.size() < waiting_max)
        waiting_.push_back({tool, arguments, cut_utf8(visible(would_happen), text_bytes_max)});
}

std::vector<AwaitingConfirmation> ConfirmationDesk::show() {
    const std::lock_guard lock(mutex_);
    shown_ = std::exchange(waiting_, {});
    return shown_;
}

void ConfirmationDesk::forget() {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
    shown_.clear();
}

std::vector<ConfirmedAction> ConfirmationDesk::hear(std::string_view person_wrote) {
    const std::lock_guard lock(mutex_);
    const std::vector<AwaitingConfirmation> shown = std::exchange(shown_, {});
    waiting_.clear();
    tokens_.clear();  // a token is for the next turn, not for later
    std::vector<ConfirmedAction> confirmed;
    for (const std::size_t at : confirmed_places(person_wrote, shown.size())) {
        confirmed.push_back({new_token(), shown[at].tool, shown[at].arguments});
        tokens_.emplace(confirmed.back().token, action_of(shown[at].tool, shown[at].arguments));
    }
    return confirmed;
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
        "2. Stop. The person is shown what would happen, in the tool's own words; ask whether to "
        "go "
        "on. End your turn there.\n"
        "3. If the person says yes, you are given a confirmation token. Call the tool again with "
        "the "
        "very same arguments, `confirmed: true` and `confirmation_token`.\n"
        "`confirmed: true` without the token does nothing. Silence, or an answer that is not a "
        "clear "
        "yes, means no: leave it. One yes is for one action.",
        names);
}

}  // namespace holdpoint
