#include "api/wire/request.h"

#include "api/wire/write.h"
#include "core/digest.h"
#include "core/json_text.h"
#include "core/subject.h"

namespace holdpoint::wire {
namespace {

using core::Request;

void append_risk(std::string& out, const Request& request) {
    ObjectWriter risk(out);
    risk.word("level", to_string(request.risk));
    core::NamedText parts[] = {
        {"factors"}, {"consequences"}, {"reversibility"}, {"confidence"}, {"claimed"}};
    core::find_members(request.risk_detail.text, parts);
    const auto write = [&](const core::NamedText& part, std::string_view absent) {
        risk.raw(part.name, part.text.empty() || part.text == "null" ? absent : part.text);
    };
    const auto& [factors, consequences, reversibility, confidence, claimed] = parts;
    write(factors, "[]");
    write(consequences, "[]");
    write(reversibility, "null");
    write(confidence, "null");
    write(claimed, "null");
    risk.close();
}

void append_votes(std::string& out, const std::vector<core::Vote>& votes) {
    out += '[';
    bool is_first = true;
    for (const core::Vote& vote : votes) {
        if (!is_first) out += ',';
        is_first = false;
        ObjectWriter entry(out);
        entry.word("decision", to_string(vote.decision.kind));
        entry.text("by", vote.decision.by);
        entry.time("at", vote.decision.at);
        entry.close();
    }
    out += ']';
}

void append_holds(std::string& out, const std::vector<core::Held>& holds) {
    out += '[';
    bool is_first = true;
    for (const core::Held& held : holds) {
        if (!is_first) out += ',';
        is_first = false;
        const core::DecisionCommand& command = held.command;
        ObjectWriter entry(out);
        entry.word("decision", to_string(command.kind));
        entry.text("by", held.person.name);
        entry.time("at", held.at);
        entry.time("until", held.until);
        entry.text_or_null("note", command.note);
        entry.text_or_null("reason", command.reason);
        entry.text_or_null("guidance", command.guidance);
        entry.text_or_null("target", command.target);
        entry.json("arguments", command.replacement);
        entry.close();
    }
    out += ']';
}

/// Seconds from milliseconds; 0 means "not set".
void append_seconds(ObjectWriter& writer, std::string_view name, std::int64_t ms) {
    if (ms == 0)
        writer.raw(name, "null");
    else
        json::append_number(writer.name(name), static_cast<double>(ms) / 1000);
}

void append_timing(ObjectWriter& writer, std::string& out, const Request& request) {
    const core::Timing& timing = request.timing;
    writer.word("on_timeout", to_string(timing.on_timeout));
    writer.name("timed_out");
    if (request.timeout_taken) {
        ObjectWriter taken(out);
        taken.word("action", to_string(*request.timeout_taken));
        taken.close();
    } else {
        out += "null";
    }
    writer.name("reminders");
    ObjectWriter reminders(out);
    append_seconds(reminders, "every_s", timing.remind_every_ms);
    reminders.number("max", timing.reminders_max);
    reminders.number("sent", timing.reminders_sent);
    reminders.close();
    writer.name("escalation");
    ObjectWriter escalation(out);
    append_seconds(escalation, "after_s", timing.escalate_after_ms);
    escalation.text_or_null("to", timing.escalate_to);
    escalation.boolean("done", timing.is_escalated);
    escalation.close();
    writer.name("retries");
    ObjectWriter retries(out);
    retries.number("max", timing.retries_max);
    retries.number("done", timing.retries_done);
    retries.close();
}

void append_decision(std::string& out, const core::Decision& decision) {
    ObjectWriter writer(out);
    writer.word("kind", to_string(decision.kind));
    writer.text("by", decision.by);
    writer.text("via", decision.via);
    writer.time("at", decision.at);
    writer.text_or_null("note", decision.note);
    writer.text_or_null("reason", decision.reason);
    writer.text_or_null("guidance", decision.guidance);
    writer.text_or_null("target", decision.target);
    writer.json("arguments", decision.replacement);
    writer.json("answer", decision.answer);
    writer.close();
}

/// What the agent runs. Its name tells what it is: arguments of an action, else the whole subject.
void append_release(std::string& out, const Request& request) {
    ObjectWriter writer(out);
    const bool is_action = request.kind == core::Kind::action;
    writer.raw(is_action ? "arguments" : to_string(request.kind),
               core::changeable_part(request.kind, request.subject));
    writer.word("digest", request.digest);
    writer.raw("receipt", "null");
    writer.close();
}

void append_report(std::string& out, const core::Report& report) {
    ObjectWriter writer(out);
    writer.boolean("success", report.is_success);
    writer.json("result", report.result);
    writer.text_or_null("error", report.error);
    writer.time("at", report.at);
    writer.close();
}

void append_outcome(ObjectWriter& writer, std::string& out, const Request& request) {
    writer.name("decision");
    if (request.decision)
        append_decision(out, *request.decision);
    else
        out += "null";
    writer.name("release");
    if (request.is_released)
        append_release(out, request);
    else
        out += "null";
    writer.text_or_null("message_for_agent", request.message_for_agent);
    writer.name("report");
    if (request.report)
        append_report(out, *request.report);
    else
        out += "null";
}

/// Who did it, through which door, from where, and in which words. The timeline and the stream tell
/// the same, since whoever may see one may see the other.
void append_origin(ObjectWriter& writer, const core::Event& event) {
    writer.text_or_null("actor", event.actor);
    writer.text_or_null("via", event.via);
    writer.text_or_null("address", event.address);
    writer.json("detail", event.detail);
}

}  // namespace

void ObjectWriter::texts(std::string_view key, const std::vector<std::string>& values) {
    name(key) += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0) out_ += ',';
        json::append_quoted(out_, values[i]);
    }
    out_ += ']';
}

void append_requirement(std::string& out, const core::Requirement& requirement,
                        const std::string& confirm) {
    ObjectWriter writer(out);
    writer.name("lines") += '[';
    bool is_first = true;
    for (const core::RequirementLine& line : requirement.lines) {
        if (!is_first) out += ',';
        is_first = false;
        ObjectWriter entry(out);
        entry.text_or_null("group", line.group);
        if (!line.other_groups.empty()) entry.texts("other_groups", line.other_groups);
        if (line.people.empty())
            entry.raw("people", "null");
        else
            entry.texts("people", line.people);
        entry.number("quorum", line.quorum);
        entry.number("have", line.have);
        entry.close();
    }
    out += ']';
    writer.number("reject_threshold", requirement.reject_threshold);
    writer.boolean("reason_required", requirement.reason_required);
    writer.boolean("modifiable", requirement.modifiable);
    writer.boolean("exclude_requester", requirement.exclude_requester);
    writer.text_or_null("confirm", confirm);
    writer.close();
}

void append_request(std::string& out, const Request& request, const Aside* aside) {
    ObjectWriter writer(out);
    const std::string id = request.id.text();
    writer.word("id", id);
    writer.word("kind", to_string(request.kind));
    writer.word("state", to_string(request.state));
    if (request.outcome)
        writer.word("outcome", to_string(*request.outcome));
    else
        writer.raw("outcome", "null");
    writer.text_or_null("session", request.session);
    writer.text_or_null("thread", request.thread);
    writer.text_or_null("task", request.task);
    writer.text_or_null("user", request.user);
    writer.text("agent", request.agent);
    writer.text_or_null("owner", request.owner);
    writer.text_or_null("batch", request.batch ? request.batch->text() : "");
    writer.json(to_string(request.kind), request.subject);
    writer.json("proposed", request.proposed);
    writer.text("headline", request.headline);
    append_risk(writer.name("risk"), request);
    writer.name("verdict");
    ObjectWriter verdict(out);
    verdict.word("kind", to_string(request.verdict.kind));
    verdict.text_or_null("rule", request.verdict.rule);
    verdict.text_or_null("gate", request.verdict.gate);
    verdict.text_or_null("because", request.verdict.because);
    verdict.text_or_null("policy", request.verdict.policy);
    verdict.close();
    append_requirement(
        writer.name("requirement"), request.requirement,
        request.requirement.confirm_required ? core::confirmation_code(request.digest) : "");
    append_votes(writer.name("votes"), request.votes);
    writer.word("digest", request.digest);
    writer.time("created_at", request.created_at);
    writer.time("expires_at", request.expires_at);
    writer.time("settled_at", request.settled_at);
    append_timing(writer, out, request);
    writer.json("context", request.context);
    writer.json("suggested", request.suggested);
    writer.json("metadata", request.metadata);
    append_outcome(writer, out, request);
    writer.word("url", "/r/" + id);
    if (!request.holds.empty()) append_holds(writer.name("held"), request.holds);
    if (aside && !aside->viewers.empty()) append_viewers(writer.name("viewers"), aside->viewers);
    if (aside && aside->snoozed_until) writer.time("snoozed_until", *aside->snoozed_until);
    writer.close();
}

void append_viewers(std::string& out, const std::vector<Viewer>& viewers) {
    out += '[';
    for (std::size_t i = 0; i < viewers.size(); ++i) {
        if (i > 0) out += ',';
        ObjectWriter entry(out);
        entry.text("name", viewers[i].name);
        entry.time("since", viewers[i].since);
        entry.close();
    }
    out += ']';
}

std::string to_json(const Request& request) {
    std::string out;
    // What is long, and what the names and short texts take: growing would copy all of it.
    out.reserve(1792 + request.subject.text.size() * (request.is_released ? 2 : 1) +
                request.proposed.text.size() + request.context.text.size() +
                request.suggested.text.size() + request.metadata.text.size() +
                request.risk_detail.text.size() + request.headline.size() +
                request.message_for_agent.size());
    append_request(out, request);
    return out;
}

std::string events_json(const std::vector<store::StoredEvent>& events) {
    std::string out = "{\"events\":[";
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (i > 0) out += ',';
        const core::Event& event = events[i].event;
        ObjectWriter writer(out);
        writer.number("seq", events[i].seq);
        writer.word("type", public_name(event.kind));
        writer.time("at", event.at);
        append_origin(writer, event);
        writer.close();
    }
    return out + "]}";
}

std::string to_sse(const store::Change& change) {
    const core::Event& event = change.event.event;
    const Request& request = *change.request;
    const std::string_view name = public_name(event.kind);
    std::string out = "id: " + std::to_string(change.event.seq) + "\nevent: ";
    out += name;
    out += "\ndata: ";
    ObjectWriter writer(out);
    writer.number("seq", change.event.seq);
    writer.word("type", name);
    writer.time("at", event.at);
    append_origin(writer, event);
    if (event.kind == core::EventKind::requested) {
        // The names that front ends of the older kind listen for.
        writer.word("approvalId", request.id.text());
        writer.text_or_null("toolName", request.tool);
        writer.raw("input", core::changeable_part(request.kind, request.subject));
        writer.text("message", request.headline);
    } else if (event.kind == core::EventKind::reported && request.report) {
        writer.text_or_null("toolName", request.tool);
        append_report(writer.name("result"), *request.report);
    }
    append_request(writer.name("request"), request);
    writer.close();
    return out + "\n\n";
}

}  // namespace holdpoint::wire
