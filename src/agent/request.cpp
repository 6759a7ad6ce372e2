#include <holdpoint/request.h>

#include <fmt/format.h>

namespace holdpoint {
namespace {

/// Reads members and remembers the first that is not what it must be.
class Reader {
  public:
    explicit Reader(const Json& object) : object_(object) {}

    std::string required(std::string_view name) {
        const Json member = object_[name];
        if (!member.is_text()) wrong(name);
        return member.text_or("");
    }
    std::string text(std::string_view name) const { return object_[name].text_or(""); }

    template <class Word>
    Word word(std::string_view name) {
        const std::optional<Word> word = core::parse_word<Word>(required(name));
        if (!word) wrong(name);
        return word.value_or(Word{});
    }
    void wrong(std::string_view name) {
        if (wrong_.empty()) wrong_ = name;
    }
    const std::string& wrong() const { return wrong_; }

  private:
    const Json& object_;
    std::string wrong_;
};

std::vector<std::string> texts_of(const Json& array) {
    std::vector<std::string> texts;
    for (const Json& item : array.items()) texts.push_back(item.text_or(""));
    return texts;
}

std::optional<Decision> read_decision(const Json& json, Reader& outer) {
    if (json.is_null()) return std::nullopt;
    Reader reader(json);
    Decision decision;
    decision.kind = reader.word<DecisionKind>("kind");
    decision.by = reader.text("by");
    decision.note = reader.text("note");
    decision.reason = reader.text("reason");
    decision.guidance = reader.text("guidance");
    decision.to = reader.text("target");
    decision.at = reader.text("at");
    decision.replacement = json["arguments"];
    decision.answer = json["answer"];
    if (!reader.wrong().empty()) outer.wrong("decision");
    return decision;
}

std::optional<Release> read_release(const Json& json, const Request& request, Reader& outer) {
    if (json.is_null()) return std::nullopt;
    Release release;
    release.request_id = request.id;
    release.tool = request.tool();
    const bool is_action = request.kind == Kind::action;
    const Json content = json[is_action ? "arguments" : core::to_string(request.kind)];
    release.arguments = content;
    release.digest = json["digest"].text_or("");
    release.is_modified = request.outcome == Outcome::modified;
    release.message = request.message_for_agent;
    if (!content.is_object() || release.digest.empty()) outer.wrong("release");
    return release;
}

void read_verdict(const Json& json, Request& request, Reader& outer) {
    Reader verdict(json);
    request.verdict = verdict.word<VerdictKind>("kind");
    request.rule = verdict.text("rule");
    request.gate = verdict.text("gate");
    request.because = verdict.text("because");
    if (!verdict.wrong().empty()) outer.wrong("verdict");
}

void read_risk(const Json& json, Request& request, Reader& outer) {
    Reader risk(json);
    request.risk = risk.word<RiskLevel>("level");
    request.risk_factors = texts_of(json["factors"]);
    request.consequences = texts_of(json["consequences"]);
    if (!risk.wrong().empty()) outer.wrong("risk");
}

}  // namespace

Json Context::json() const {
    Json json;
    const auto put = [&](std::string_view name, const std::string& text) {
        if (!text.empty()) json = json.with(name, text);
    };
    put("task_description", task_description);
    put("conversation_summary", conversation_summary);
    put("current_reasoning", current_reasoning);
    put("user_prompt", user_prompt);
    if (!steps_completed.empty()) json = json.with("steps_completed", Json::texts(steps_completed));
    if (!relevant_history.is_null()) json = json.with("relevant_history", relevant_history);
    return json;
}

Result<Request> Request::read(const Json& resource) {
    Reader reader(resource);
    Request request;
    request.id = reader.required("id");
    request.kind = reader.word<Kind>("kind");
    request.state = reader.word<State>("state");
    if (!resource["outcome"].is_null()) request.outcome = reader.word<Outcome>("outcome");
    if (request.is_settled() != request.outcome.has_value()) reader.wrong("outcome");
    request.session = reader.text("session");
    request.thread = reader.text("thread");
    request.task = reader.text("task");
    request.user = reader.text("user");
    request.agent = reader.text("agent");
    request.batch = reader.text("batch");
    request.subject = resource[core::to_string(request.kind)];
    if (!request.subject.is_object()) reader.wrong(core::to_string(request.kind));
    request.proposed = resource["proposed"];
    request.headline = reader.required("headline");
    read_risk(resource["risk"], request, reader);
    read_verdict(resource["verdict"], request, reader);
    const Json requirement = resource["requirement"];
    request.is_reason_required = requirement["reason_required"].boolean().value_or(true);
    request.is_modifiable = requirement["modifiable"].boolean().value_or(false);
    request.confirm = requirement["confirm"].text_or("");
    for (const Json& vote : resource["votes"].items())
        request.voters.push_back(vote["by"].text_or(""));
    request.digest = reader.required("digest");
    request.created_at = reader.required("created_at");
    request.expires_at = reader.required("expires_at");
    request.settled_at = reader.text("settled_at");
    request.context = resource["context"];
    request.message_for_agent = reader.text("message_for_agent");
    if (const Json timed_out = resource["timed_out"]; !timed_out.is_null()) {
        request.timed_out = core::parse_word<TimeoutAction>(timed_out["action"].text_or(""));
        if (!request.timed_out) reader.wrong("timed_out");
    }
    request.decision = read_decision(resource["decision"], reader);
    request.release = read_release(resource["release"], request, reader);
    request.report = resource["report"];
    request.json = resource;
    if (!reader.wrong().empty())
        return Error{ErrorCode::internal,
                     fmt::format("the answer's `{}` cannot be understood", reader.wrong())};
    return request;
}

}  // namespace holdpoint
