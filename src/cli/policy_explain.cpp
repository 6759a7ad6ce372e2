#include "policy/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "cli/json_text.h"
#include "cli/policy.h"
#include "cli/policy_call.h"
#include "cli/policy_file.h"
#include "cli/resource.h"
#include "cli/terminal.h"
#include "policy/run_tests.h"

namespace holdpoint::cli {
namespace {

/// Of a file of many calls; each of them has the limits of a request's body.
constexpr std::size_t calls_mib_max = 256;

/// The decision record for one call. Fails where there was no call to judge.
using Judge = std::function<Answer<json::object>(const json::value& call)>;

Judge judge_by(const PolicyPointer& policy) {
    auto workspace = std::make_shared<policy::Workspace>();
    return [policy, workspace](const json::value& call) -> Answer<json::object> {
        Result<policy::Situation> situation = policy::read_situation(call, now());
        if (!situation) return std::unexpected(Failure{situation.error()});
        if (Result<void> ok = policy::settle(*situation, *policy); !ok)
            return std::unexpected(Failure{ok.error()});
        return policy::explain(*policy, situation->call, situation->state, *workspace);
    };
}

Judge judge_by(Client& client) {
    return [&client](const json::value& call) -> Answer<json::object> {
        const Answer<Reply> reply = client.call(
            {.method = "POST", .path = "/v1/policy/explain", .body = json::value{{"call", call}}});
        if (!reply) return std::unexpected(reply.error());
        const json::value& verdict = member(reply->body, "verdict");
        if (!verdict.is_object())
            return std::unexpected(
                Failure{Error{ErrorCode::internal, "the server's answer has no `verdict`"}});
        return verdict.get_object();
    };
}

void print_verdict(const Output& out, const json::object& record, bool is_lines) {
    if (out.is_json()) return out.data(compact(json::object{{"verdict", record}}));
    if (is_lines)
        return out.data(fmt::format("{:<5}  {:<8}  {}: {}", visible(text_of(record, "kind")),
                                    visible(text_of(record, "risk")),
                                    visible(text_of(record, "rule")),
                                    visible(text_of(record, "because"))));
    std::string text = visible(policy::explain_text(record), Newlines::keep);
    if (text.ends_with('\n')) text.pop_back();
    out.data(text);
}

/// Of several calls, one that is none still takes its line: the answers stay beside the calls.
ExitCode report(const Output& out, Failure failure, const GivenCall& call, bool is_lines) {
    Error& error = failure.error;
    if (is_lines) {
        if (out.is_json())
            out.data(compact(json::object{{"error", json::object{{"code", to_string(error.code)},
                                                                 {"message", error.message},
                                                                 {"field", error.field},
                                                                 {"line", call.line}}}}));
        else
            out.data("none   no call");
        error.message = fmt::format("line {}: {}", call.line, error.message);
    }
    return out.fail(failure);
}

Answer<json::object> judge_one(const Judge& judge, const GivenCall& call,
                               std::string_view policy_version) {
    if (!call.json && !call.is_object)
        return std::unexpected(
            Failure{Error{call.json.error().code, "no call: " + call.json.error().message}});
    if (!call.json) return unreadable_verdict(call.json.error(), policy_version);
    Answer<json::object> record = judge(*call.json);
    if (!record && is_fault_of_arguments(record.error().error))
        return unreadable_verdict(record.error().error, policy_version);
    return record;
}

ExitCode explain_each(const Output& out, const Judge& judge, const std::string& path,
                      std::string_view policy_version) {
    const Result<std::string> text = read_input(path, calls_mib_max);
    if (!text) return out.fail(text.error());
    const GivenCalls given = read_calls(*text);
    ExitCode worst = ExitCode::fine;
    for (const GivenCall& call : given.calls) {
        const Answer<json::object> record = judge_one(judge, call, policy_version);
        if (record) {
            print_verdict(out, *record, given.is_lines);
            continue;
        }
        const ExitCode code = report(out, record.error(), call, given.is_lines);
        worst = std::max(worst, code);
        if (code == ExitCode::unreachable) break;
    }
    return worst;
}

}  // namespace

ExitCode explain_calls(const Flags& flags, const PolicyOptions& options) {
    if (options.file.empty())
        return in_session(flags, [&](Session& session) {
            return explain_each(session.out, judge_by(session.client), options.call_file, "");
        });
    const Output out = local_output(flags);
    if (options.file == "-" && options.call_file == "-")
        return out.fail(Error{ErrorCode::invalid_argument,
                              "the policy and the call cannot both be standard input"});
    const Result<PolicyPointer> loaded = load_given_policy(options.file, FailingTests::refuse);
    if (!loaded) return fail_policy(out, loaded.error());
    return explain_each(out, judge_by(*loaded), options.call_file, (*loaded)->version);
}

}  // namespace holdpoint::cli
