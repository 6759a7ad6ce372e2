#include <memory>

#include "cli/answer_value.h"
#include "cli/app.h"
#include "cli/decision.h"
#include "cli/detail.h"
#include "cli/proposal.h"
#include "cli/resource.h"

namespace holdpoint::cli {
namespace {

struct AnswerOptions {
    std::string id, answer_json, note;
    std::vector<std::string> values;
};

ExitCode answer(Session& session, const AnswerOptions& options) {
    const Answer<Request> request = find_request(session.client, options.id);
    if (!request) return session.out.fail(request.error());
    if (request->kind != core::Kind::input)
        return session.out.fail(Error{ErrorCode::refused, "this request is not a question"},
                                "use approve or reject");
    const Result<json::value> value = options.answer_json.empty()
                                          ? answer_value(*request, options.values)
                                          : parse_given_json(options.answer_json, "--answer-json");
    if (!value) return session.out.fail(value.error());
    name_request(session.out, *request);
    json::object body{{"decision", "answer"}, {"answer", *value}};
    if (!options.note.empty()) body["note"] = options.note;
    return send_decision(session, *request, std::move(body));
}

}  // namespace

void add_answer(Command app, Commands& commands) {
    auto options = std::make_shared<AnswerOptions>();
    Command command = app.add_subcommand("answer", "Answer a question");
    command.add_option("id", options->id, "Id, or a unique part of one that is pending").required();
    Option value = command.add_option(
        "value", options->values, "Text, number, choice(s), date YYYY-MM-DD, or path of a file");
    command.add_option("--answer-json", options->answer_json, "The answer as JSON").excludes(value);
    command.add_option("--note", options->note, "A note for the record");
    command.footer("A negative number goes after --, like `holdpoint answer ID -- -5`.");
    on_session(command, commands,
               [options](Session& session) { return answer(session, *options); });
}

}  // namespace holdpoint::cli
