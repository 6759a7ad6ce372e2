#include "store/sqlite/grant_codec.h"

#include <limits>
#include <optional>

#include "base/json.h"
#include "base/json_fields.h"
#include "core/stored_json.h"
#include "core/words.h"

namespace holdpoint::store::sqlite {
namespace {

using json::array;
using json::object;
using json::value;

constexpr double any_number = std::numeric_limits<double>::max();
/// Pinned arguments are as long as the door lets a request be.
constexpr json::TextRule any_text{.max = std::size_t{64} << 20};

/// The items of a list, each an object of its own.
template <class Each>
void each(json::Fields& fields, std::string_view name, Each each) {
    const value* list = fields.required(name);
    if (!list) return;
    if (!list->is_array()) return fields.refuse(name, "must be a list");
    for (const value& item : list->get_array()) {
        json::Fields one(item, std::string(name));
        each(one);
        if (Result<void> ok = one.finish(); !ok) fields.fail(ok.error());
    }
}

}  // namespace

std::string encode(const policy::Grant& grant) {
    array pins, bounds, argv;
    for (const policy::Pin& pin : grant.pins)
        pins.push_back(object{{"path", pin.path}, {"value", pin.value}});
    for (const policy::Bound& bound : grant.bounds)
        bounds.push_back(object{{"path", bound.path}, {"at_most", bound.at_most}});
    for (const std::string& word : grant.argv) argv.push_back(value(word));
    object out{{"id", grant.id},
               {"tool", grant.tool},
               {"agent", grant.agent},
               {"session", grant.session},
               {"pins", std::move(pins)},
               {"bounds", std::move(bounds)},
               {"argv", std::move(argv)},
               {"is_argv_prefix", grant.is_argv_prefix},
               {"risk_max", to_string(grant.risk_max)},
               {"expires_at", grant.expires_at.ms},
               {"policy", grant.policy},
               {"by", grant.by},
               {"asked", grant.asked.value_or(policy::Asked{}).people},
               {"excludes_requester", grant.asked && grant.asked->excludes_requester},
               {"takes_code", grant.asked && grant.asked->takes_code},
               {"is_revoked", grant.is_revoked}};
    if (grant.uses_left) out["uses_left"] = std::int64_t{*grant.uses_left};
    if (grant.sum_left) out["sum_left"] = *grant.sum_left;
    return json::canonical(out);
}

Result<policy::Grant> decode_grant(std::string_view text) {
    const Error damaged{ErrorCode::internal, "a stored grant cannot be read"};
    const Result<value> parsed = core::parse_stored(text);
    if (!parsed) return damaged;
    policy::Grant grant;
    json::Fields fields(*parsed, "grant");
    grant.id = fields.required_text("id");
    grant.tool = fields.required_text("tool");
    grant.agent = fields.required_text("agent");
    grant.session = fields.required_text("session");
    each(fields, "pins", [&](json::Fields& pin) {
        grant.pins.push_back({pin.required_text("path"), pin.required_text("value", any_text)});
    });
    each(fields, "bounds", [&](json::Fields& bound) {
        if (!bound.required("at_most")) return;
        grant.bounds.push_back({bound.required_text("path"),
                                bound.number("at_most", {-any_number, any_number}).value_or(0)});
    });
    if (fields.required("argv")) grant.argv = fields.texts("argv", 10'000).value_or(grant.argv);
    const std::optional<bool> is_argv_prefix = fields.boolean("is_argv_prefix");
    const auto risk_max = core::parse_word<core::RiskLevel>(fields.required_text("risk_max"));
    const std::optional<std::int64_t> expires_at =
        fields.integer("expires_at", 0, json::integer_max);
    grant.policy = fields.required_text("policy");
    grant.by = fields.required_text("by");
    // Those of an earlier version stand in for anybody who might have been asked, and no others.
    grant.asked = policy::Asked{fields.text("asked", any_text).value_or(""),
                                fields.boolean("excludes_requester").value_or(false),
                                fields.boolean("takes_code").value_or(false)};
    const std::optional<bool> is_revoked = fields.boolean("is_revoked");
    if (const auto uses = fields.integer("uses_left", 0, 1'000'000'000))
        grant.uses_left = static_cast<int>(*uses);
    grant.sum_left = fields.number("sum_left", {-any_number, any_number});
    if (!fields.finish() || !is_argv_prefix || !risk_max || !expires_at || !is_revoked)
        return damaged;
    grant.is_argv_prefix = *is_argv_prefix;
    grant.risk_max = *risk_max;
    grant.expires_at = {*expires_at};
    grant.is_revoked = *is_revoked;
    return grant;
}

}  // namespace holdpoint::store::sqlite
