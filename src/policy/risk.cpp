#include "policy/risk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/json.h"
#include "core/json_text.h"
#include "policy/policy.h"

namespace holdpoint::policy {
namespace {

using ascii::lower;

using boost::json::value;

constexpr double large_amount_min = 10'000;
constexpr std::size_t bulk_min = 50;
constexpr std::size_t values_max = 2000;

constexpr auto amount_names = std::to_array<std::string_view>(
    {"amount", "total", "price", "sum", "value", "payment", "budget"});

/// What a secret begins with, and which of its characters is the rarest in other texts.
struct SecretMark {
    std::string_view text;
    char rarest;
};
constexpr auto secret_marks = std::to_array<SecretMark>({{"-----BEGIN ", 'B'},
                                                         {"AKIA", 'K'},
                                                         {"ghp_", '_'},
                                                         {"github_pat_", '_'},
                                                         {"glpat-", '-'},
                                                         {"xoxb-", 'x'},
                                                         {"xoxp-", 'x'},
                                                         {"sk-ant-", '-'},
                                                         {"sk_live_", '_'},
                                                         {"AIza", 'z'},
                                                         {"eyJhbGciOi", 'J'}});

std::string_view view_of(const boost::json::string& text) { return {text.data(), text.size()}; }

bool is_alnum(char c) { return ascii::is_letter(c) || ascii::is_digit(c); }

bool ends_with_word(std::string_view name, std::string_view word) {
    if (name.size() < word.size()) return false;
    const std::string_view tail = name.substr(name.size() - word.size());
    return std::equal(tail.begin(), tail.end(), word.begin(),
                      [](char a, char b) { return lower(a) == b; });
}

bool is_amount(std::string_view name) {
    return std::any_of(amount_names.begin(), amount_names.end(),
                       [&](std::string_view word) { return ends_with_word(name, word); });
}

/// `prod`, `production` or `live` as a word of a name like `db-prod-2`; prose and paths are left
/// alone, they mention production all the time.
bool names_production(std::string_view text) {
    constexpr std::size_t name_bytes_max = 64;
    if (text.size() < 4 || text.size() > name_bytes_max) return false;
    std::size_t start = 0;
    bool is_found = false;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && (text[i] == '/' || text[i] == ' ')) return false;
        if (i < text.size() && is_alnum(text[i])) continue;
        const std::string_view word = text.substr(start, i - start);
        const auto is = [&](std::string_view other) {
            return word.size() == other.size() && ends_with_word(word, other);
        };
        is_found = is_found || is("prod") || is("production") || is("live");
        start = i + 1;
    }
    return is_found;
}

/// Goes from one rare character to the next: by the first one of the mark, which may be an `e`,
/// this was most of what judging a long text costs.
bool contains(std::string_view text, const SecretMark& mark) {
    const std::size_t place = mark.text.find(mark.rarest);
    std::size_t found = text.find(mark.rarest, place);
    while (found != std::string_view::npos) {
        if (text.substr(found - place).starts_with(mark.text)) return true;
        found = text.find(mark.rarest, found + 1);
    }
    return false;
}

bool has_secret(std::string_view text) {
    constexpr std::size_t secret_bytes_min = 20;
    if (text.size() < secret_bytes_min) return false;
    return std::ranges::any_of(secret_marks,
                               [&](const SecretMark& mark) { return contains(text, mark); });
}

/// One walk over the arguments; stops at a bound, since what is that large is bulk anyway.
class Walk {
  public:
    std::uint32_t factors = 0;

    void object(const json::object& object) {
        for (const auto& member : object) {
            if (++seen_ > values_max) return;
            one({member.key().data(), member.key().size()}, member.value());
        }
    }

  private:
    void one(std::string_view name, const value& value) {
        switch (value.kind()) {
            case boost::json::kind::string:
                return text(view_of(value.get_string()));
            case boost::json::kind::int64:
                return number(name, static_cast<double>(value.get_int64()));
            case boost::json::kind::double_:
                return number(name, value.get_double());
            case boost::json::kind::array:
                if (value.get_array().size() >= bulk_min) factors |= bulk;
                for (const auto& item : value.get_array()) {
                    if (++seen_ > values_max) return;
                    one(name, item);
                }
                return;
            case boost::json::kind::object:
                return object(value.get_object());
            default:
                return;
        }
    }

    void text(std::string_view text) {
        if (names_production(text)) factors |= production;
        if (has_secret(text)) factors |= secrets;
    }

    void number(std::string_view name, double number) {
        if (number < large_amount_min && number >= 0) return;
        if (!is_amount(name)) return;
        factors |= number < 0 ? negative_amount : large_amount;
    }

    std::size_t seen_ = 0;
};

RiskLevel level_of(std::uint32_t factors) {
    constexpr std::uint32_t high =
        destructive | large_amount | negative_amount | bulk | production | secrets;
    constexpr std::uint32_t medium = open_world | unknown_tool | look_alike | opaque_shell;
    if (factors & high) return RiskLevel::high;
    if (factors & medium) return RiskLevel::medium;
    return RiskLevel::low;
}

struct Words {
    Factor factor;
    std::string_view text;
    std::string_view consequence;
};

constexpr auto words = std::to_array<Words>({
    {destructive, "changes or removes what is there", "what is there now may be gone afterwards"},
    {irreversible, "cannot be undone", "there is no way back once it has run"},
    {open_world, "reaches outside", "others will see it, and it cannot be called back"},
    {unknown_tool, "the policy does not know this tool", "what it does is not known here"},
    {look_alike, "its name looks like that of another tool",
     "it may not be the tool it seems to be"},
    {large_amount, "a large amount", "a mistake would be expensive"},
    {negative_amount, "an amount below zero", "money may flow the other way"},
    {bulk, "many things at once", "a mistake would happen many times"},
    {production, "names a production system", "people may be using what it touches"},
    {secrets, "an argument looks like a secret", "a secret would leave its place"},
    {opaque_shell, "the command cannot be proved to be a list of plain words",
     "it may run more than it shows"},
    {new_to_agent, "this agent has not used this tool before", ""},
    {claimed, "the agent itself calls it risky", ""},
    {unreadable, "a risk rule could not be evaluated", ""},
});

}  // namespace

BaseRisk base_risk(const Tool* tool) {
    BaseRisk risk;
    if (!tool) return {RiskLevel::medium, unknown_tool};
    if (tool->destructive.value_or(false)) risk.factors |= destructive;
    if (!tool->reversible.value_or(true)) risk.factors |= irreversible;
    if (tool->open_world.value_or(false)) risk.factors |= open_world;
    risk.level = level_of(risk.factors);
    // The operator's word about the level counts more than what is derived from the other facts.
    if (tool->risk) {
        risk.factors |= declared;
        risk.level = *tool->risk;
    }
    return risk;
}

BaseRisk assess_call(const Entry& entry, const Call& call, const ShellLine* line,
                     bool is_new_to_agent) {
    BaseRisk risk{entry.base_risk, entry.base_factors};
    std::uint32_t found = 0;
    if (!entry.tool || !entry.tool->read_only.value_or(false)) {
        Walk walk;
        walk.object(call.args);
        found |= walk.factors;
    }
    if (line && line->is_opaque()) found |= opaque_shell;
    if (call.claims.is_destructive) found |= destructive;
    if (call.claims.is_open_world) found |= open_world;
    if (call.claims.is_irreversible) found |= irreversible;
    const std::uint32_t added = found & ~entry.base_factors;
    risk.level = std::max(risk.level, level_of(added));
    risk.factors |= found;
    if (call.claims.risk && *call.claims.risk > risk.level) {
        risk.level = *call.claims.risk;
        risk.factors |= claimed;
    }
    if (is_new_to_agent) risk.factors |= new_to_agent;
    return risk;
}

Assessment describe(const Entry& entry, const Call& call, BaseRisk risk) {
    Assessment out;
    out.level = risk.level;
    for (const Words& one : words) {
        if (!(risk.factors & one.factor)) continue;
        out.factors.emplace_back(one.text);
        if (!one.consequence.empty()) out.consequences.emplace_back(one.consequence);
    }
    if (risk.factors & declared)
        out.factors.push_back(
            fmt::format("the operator rates it {}", core::to_string(*entry.tool->risk)));
    if (entry.tool) {
        out.consequences.insert(out.consequences.begin(), entry.tool->consequences.begin(),
                                entry.tool->consequences.end());
        if (entry.tool->reversible)
            out.reversibility = *entry.tool->reversible ? "fully" : "irreversible";
        else if (entry.tool->read_only.value_or(false))
            out.reversibility = "fully";
    }
    if (call.claims.is_irreversible) out.reversibility = "irreversible";
    if (call.event == Event::tool_call && !entry.tool)
        out.confidence = 0.3;
    else if (!(risk.factors & declared))
        out.confidence = 0.6;
    else
        out.confidence = 0.9;
    return out;
}

/// Written as it is: for every proposal, and building a value first takes five times as long. The
/// members are in canonical order, and so is what the agent claims, which make_call() has read.
core::JsonText to_json(const Assessment& assessment, const core::JsonText& claimed) {
    std::string out = "{";
    if (!claimed.is_null()) out += "\"claimed\":" + claimed.text + ',';
    const auto list = [&](std::string_view name, const std::vector<std::string>& texts) {
        out += name;
        bool is_first = true;
        for (const std::string& text : texts) {
            if (!std::exchange(is_first, false)) out += ',';
            json::append_quoted(out, text);
        }
    };
    out += "\"confidence\":";
    json::append_number(out, assessment.confidence);
    list(",\"consequences\":[", assessment.consequences);
    list("],\"factors\":[", assessment.factors);
    out += ']';
    if (!assessment.reversibility.empty()) {
        out += ",\"reversibility\":";
        json::append_quoted(out, assessment.reversibility);
    }
    out += '}';
    return {std::move(out)};
}

}  // namespace holdpoint::policy
