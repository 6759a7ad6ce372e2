// What a policy says before it is in force: checked, tested, compared, and tried on the past.
#include "api/http/answers.h"
#include "base/json_fields.h"
#include "policy/evaluate.h"
#include "policy/explain.h"
#include "policy/report.h"
#include "policy/run_tests.h"
#include "policy/suggest.h"

namespace holdpoint::api {
namespace {

using json::Fields;

constexpr json::TextRule policy_text{.min = 1, .max = 1 << 20};

std::string suggestions(const policy::Policy& policy, const std::vector<policy::PastCall>& calls,
                        const policy::SuggestOptions& options) {
    json::array list;
    for (const policy::Suggestion& one : policy::suggest(policy, calls, options)) {
        json::array evidence;
        for (const std::string& id : one.evidence) evidence.push_back(json::value(id));
        list.push_back(json::object{{"id", one.rule.id},
                                    {"yaml", one.yaml},
                                    {"approvals", static_cast<std::int64_t>(one.approvals)},
                                    {"evidence", std::move(evidence)},
                                    {"backtest", policy::to_json(one.result)}});
    }
    return json::canonical(json::object{{"suggestions", std::move(list)}});
}

std::string changes_json(const policy::PolicyFile& before, const policy::PolicyFile& after) {
    json::array changes;
    for (const policy::Change& change : policy::diff(before, after))
        changes.push_back(policy::to_json(change));
    return json::canonical(json::object{{"changes", std::move(changes)}});
}

}  // namespace

void Api::check_policy(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_policy_body(call, body)) return;
    Fields fields(*body, "");
    const std::string text = fields.required_text("text", policy_text);
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    with_policy(call, {text}, [call](const service::PolicyInForce::Pointer& policy) {
        respond_json(call, json::canonical(policy::summary_json(*policy)));
    });
}

void Api::test_policy(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_policy_body(call, body)) return;
    Fields fields(*body, "");
    const std::optional<std::string> text = fields.text("text", policy_text);
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    with_policy(
        call, {.text = text, .may_fail_tests = true},
        [this, call](service::PolicyInForce::Pointer policy) {
            auto out = std::make_shared<std::string>();
            offload_([out, policy] { *out = json::canonical(policy::test_report_json(*policy)); },
                     [call, out] { respond_json(call, std::move(*out)); });
        });
}

void Api::diff_policy(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_policy_body(call, body)) return;
    Fields fields(*body, "");
    const std::string text = fields.required_text("text", policy_text);
    const std::optional<std::string> before = fields.text("before", policy_text);
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    const Candidate old{.text = before, .field = "before", .may_fail_tests = true};
    with_policy(call, old, [this, call, text](service::PolicyInForce::Pointer was) {
        with_policy(call, {.text = text, .may_fail_tests = true},
                    [call, was](const service::PolicyInForce::Pointer& policy) {
                        respond_json(call, changes_json(was->file, policy->file));
                    });
    });
}

void Api::explain(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_policy_body(call, body)) return;
    Fields fields(*body, "");
    const json::value* asked = fields.required("call");
    const std::optional<std::string> text = fields.text("text", {.min = 1, .max = 1 << 20});
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    Result<policy::Situation> situation = policy::read_situation(*asked, call->now);
    if (!situation) {
        Error error = situation.error();
        error.field = error.field.empty() ? "call" : "call." + error.field;
        return respond_error(call, error);
    }
    with_policy(call, {text},
                [call, situation = std::make_shared<policy::Situation>(std::move(*situation))](
                    const service::PolicyInForce::Pointer& policy) {
                    policy::Workspace workspace;
                    if (Result<void> ok = policy::settle(*situation, *policy); !ok)
                        return respond_error(call, ok.error());
                    const json::object record =
                        policy::explain(*policy, situation->call, situation->state, workspace);
                    respond_json(call, json::canonical(json::object{{"verdict", record}}));
                });
}

void Api::backtest(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_policy_body(call, body)) return;
    Fields fields(*body, "");
    const std::optional<std::string> text = fields.text("text", {.min = 1, .max = 1 << 20});
    const std::optional<std::int64_t> since_s = fields.integer("since_s", 1, 366LL * 86'400);
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    std::optional<Timestamp> since;
    if (since_s) since = call->now + -*since_s * 1000;
    with_policy(call, {text}, [this, call, since](service::PolicyInForce::Pointer policy) {
        read_history(since, [this, call, policy](Result<std::vector<policy::PastCall>> calls) {
            if (!calls) return respond_error(call, calls.error());
            auto out = std::make_shared<std::string>();
            offload_(
                [out, policy, calls = std::move(*calls)] {
                    *out = json::canonical(policy::to_json(policy::backtest(*policy, calls)));
                },
                [call, out] { respond_json(call, std::move(*out)); });
        });
    });
}

void Api::suggest(const CallPtr& call) {
    if (!has_no_query(call)) return;
    Body body;
    if (!read_body(call, body, true)) return;
    Fields fields(*body, "");
    const std::optional<std::int64_t> since_s = fields.integer("since_s", 1, 366LL * 86'400);
    policy::SuggestOptions options;
    if (const auto approvals = fields.integer("approvals_min", 2, 10'000))
        options.approvals_min = static_cast<std::size_t>(*approvals);
    if (Result<void> ok = fields.finish(); !ok) return respond_error(call, ok.error());
    std::optional<Timestamp> since;
    if (since_s) since = call->now + -*since_s * 1000;
    read_history(since, [this, call, options,
                         policy = policy_.current()](Result<std::vector<policy::PastCall>> calls) {
        if (!calls) return respond_error(call, calls.error());
        auto out = std::make_shared<std::string>();
        offload_([out, policy, options,
                  calls = std::move(*calls)] { *out = suggestions(*policy, calls, options); },
                 [call, out] { respond_json(call, std::move(*out)); });
    });
}

}  // namespace holdpoint::api
