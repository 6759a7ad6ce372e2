#include "agent/git/message.h"

#include <re2/re2.h>

#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "agent/feedback/sameness.h"
#include "base/text.h"
#include "core/secret.h"

namespace holdpoint::agent::git {
namespace {

constexpr std::size_t subject_bytes_max = 72;
constexpr std::size_t paragraph_bytes_max = 2000;
constexpr std::size_t trailer_bytes_max = 200;
constexpr std::size_t value_bytes_max = 48;
constexpr std::string_view secret = "***";

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

std::string one_line(std::string_view text, std::size_t bytes_max) {
    return cut_utf8(visible(text), bytes_max);
}

/// A part of a line that is made visible as a whole later.
std::string part(std::string_view text, std::size_t bytes_max) {
    std::string flat(text);
    std::ranges::replace(flat, '\n', ' ');
    return cut_utf8(flat, bytes_max);
}

/// Indented, so that no line is a trailer, a comment, or the line of dashes that ends a message.
std::string indented(std::string_view text) {
    const std::string shown = cut_utf8(visible(text, Newlines::keep), paragraph_bytes_max);
    std::string out;
    for (std::string_view rest = shown; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        // An empty line would end the paragraph; this one only looks empty.
        out += "    ";
        out += rest.substr(0, end);
        out += '\n';
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return out;
}

std::string value_text(std::string_view name, const Json& value) {
    if (core::is_secret_name(name)) return std::string(secret);
    if (value.is_array()) return fmt::format("{} items", value.size());
    if (value.is_object()) return fmt::format("{} fields", value.size());
    const std::string text = value.is_text() ? value.text_or("") : value.dump();
    return part(without_secrets(text), value_bytes_max);
}

feedback::ArgumentKind kind_of(std::string_view name) { return feedback::kind_of_name(name); }

/// `3 files`, or the one file.
std::string files_text(const std::vector<std::string>& paths) {
    if (paths.size() == 1) return part(paths.front(), value_bytes_max);
    return fmt::format("{} files", paths.size());
}

/// The command that the arguments hold, if any.
std::string command_in(const Json& arguments) {
    for (const std::string& name : arguments.names()) {
        if (kind_of(name) != feedback::ArgumentKind::shell) continue;
        const Json value = arguments[name];
        if (value.is_text()) return without_secrets(value.text_or(""));
        std::string joined;
        for (const Json& word : value.items()) joined += word.text_or("") + ' ';
        return without_secrets(joined);
    }
    return {};
}

std::string subject_of(const Request& request) {
    switch (request.kind) {
        case Kind::action:
            return summary(request.tool(), request.arguments());
        case Kind::plan:
            return fmt::format("plan {} ({} steps)", request.subject["title"].text_or(""),
                               request.subject["steps"].size());
        case Kind::input:
            return "question " + request.subject["question"].text_or("");
        case Kind::confirmation:
            return "confirmation " + request.subject["message"].text_or("");
        case Kind::response:
            return "final response";
    }
    return "request";
}

std::string_view outcome_word(Outcome outcome) {
    switch (outcome) {
        case Outcome::allowed:
            return "Allowed";
        case Outcome::denied:
            return "Denied by policy";
        case Outcome::approved:
            return "Approved";
        case Outcome::modified:
            return "Modified";
        case Outcome::rejected:
            return "Rejected";
        case Outcome::deferred:
            return "Deferred";
        case Outcome::aborted:
            return "Aborted";
        case Outcome::answered:
            return "Answered";
        case Outcome::skipped:
            return "Skipped";
        case Outcome::expired:
            return "Timed out";
        case Outcome::cancelled:
            return "Withdrawn";
    }
    return "Ended";
}

/// Everybody whose vote released it, each once, the last one to decide last.
std::vector<std::string> approvers(const Request& request) {
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
        if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
    };
    for (const Json& vote : request.json["votes"].items()) {
        const std::string decision = vote["decision"].text_or(vote["kind"].text_or(""));
        if (is_one_of(decision, {"approve", "modify"})) add(vote["by"].text_or(""));
    }
    if (request.decision) add(request.decision->by);
    return names;
}

void add_people(Entry& entry, const Request& request) {
    const bool is_released =
        request.outcome == Outcome::approved || request.outcome == Outcome::modified;
    if (is_released) {
        for (const std::string& name : approvers(request)) {
            entry.trailers.emplace_back("Approved-By", name);
        }
        return;
    }
    if (!request.decision || request.decision->by.empty()) return;
    const bool is_refused =
        request.outcome == Outcome::rejected || request.outcome == Outcome::aborted;
    entry.trailers.emplace_back(is_refused ? "Rejected-By" : "Decided-By", request.decision->by);
}

void add_paragraph(Entry& entry, std::string_view head, const std::string& text) {
    if (!text.empty()) entry.paragraphs.push_back(fmt::format("{}: {}", head, text));
}

/// Which arguments people changed, one line each.
std::string changes_of(const Request& request) {
    const Json& before = request.proposed;
    const Json after = request.arguments();
    if (!before.is_object() || !after.is_object()) return {};
    std::vector<std::string> names = before.names();
    for (const std::string& name : after.names()) {
        if (!before.has(name)) names.push_back(name);
    }
    std::string text;
    for (const std::string& name : names) {
        if (before[name] == after[name]) continue;
        text += fmt::format("{}: {} -> {}\n", part(name, value_bytes_max),
                            before.has(name) ? value_text(name, before[name]) : "(none)",
                            after.has(name) ? value_text(name, after[name]) : "(none)");
    }
    return text;
}

enum class Deed { write, edit, remove, run, other };

Deed deed_of(std::string_view tool, const Json& arguments) {
    if (!command_in(arguments).empty()) return Deed::run;
    if (paths_in(arguments).empty()) return Deed::other;
    const auto says = [&](std::initializer_list<std::string_view> words) {
        return std::ranges::any_of(words, [&](std::string_view w) { return tool.contains(w); });
    };
    if (says({"delete", "Delete", "remove", "Remove", "unlink"})) return Deed::remove;
    if (says({"edit", "Edit", "replace", "patch", "insert", "append", "update"})) return Deed::edit;
    if (says({"write", "Write", "create", "Create", "save", "Save", "put_"})) return Deed::write;
    return Deed::other;
}

void describe(Entry& entry, const Release& release, bool is_success) {
    const std::vector<std::string> paths = paths_in(release.arguments);
    const auto tell = [&](std::string_view label, std::string_view done, const std::string& what) {
        entry.label = label;
        entry.text = fmt::format("{} {}", is_success ? done : std::string_view("Failed:"), what);
    };
    switch (deed_of(release.tool, release.arguments)) {
        case Deed::write:
            tell("Write", "Created", files_text(paths));
            if (is_success) entry.text_if_known = "Changed " + files_text(paths);
            return;
        case Deed::edit:
            return tell("Edit", "Changed", files_text(paths));
        case Deed::remove:
            return tell("Delete", "Deleted", files_text(paths));
        case Deed::run:
            return tell("Bash", "Ran", part(command_in(release.arguments), subject_bytes_max));
        case Deed::other:
            return tell("Tool", "Called", summary(release.tool, release.arguments));
    }
}

Entry about(const Request& request) {
    Entry entry;
    entry.trailers.emplace_back("Holdpoint-Request", request.id);
    entry.trailers.emplace_back("Holdpoint-Digest", request.digest);
    return entry;
}

}  // namespace

std::string without_secrets(std::string_view text) {
    static const re2::RE2 named(
        R"re((?i)((?:pass(?:word|wd|phrase)|secret|token|api[_-]?key|private[_-]?key|credentials?)\w*["']?\s*[=:\s]\s*["']?)[^\s"'&]+)re");
    static const re2::RE2 header(R"re((?i)((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]+)re");
    static const re2::RE2 in_url(R"re((://[^\s/:@]+:)[^\s/@]+@)re");
    std::string out(text);
    re2::RE2::GlobalReplace(&out, named, "\\1***");
    re2::RE2::GlobalReplace(&out, header, "\\1***");
    re2::RE2::GlobalReplace(&out, in_url, "\\1***@");
    return out;
}

std::vector<std::string> paths_in(const Json& arguments) {
    std::vector<std::string> paths;
    for (const std::string& name : arguments.names()) {
        if (kind_of(name) != feedback::ArgumentKind::path) continue;
        const Json value = arguments[name];
        if (value.is_text()) paths.push_back(value.text_or(""));
        for (const Json& item : value.items()) {
            if (item.is_text()) paths.push_back(item.text_or(""));
        }
    }
    std::erase(paths, std::string());
    return paths;
}

std::string summary(std::string_view tool, const Json& arguments) {
    const std::string name = part(tool, 60);
    const std::vector<std::string> paths = paths_in(arguments);
    if (paths.size() > 1) return fmt::format("{} ({} files)", name, paths.size());
    if (paths.size() == 1) return fmt::format("{} ({})", name, files_text(paths));
    if (const std::string command = command_in(arguments); !command.empty()) {
        return fmt::format("{} (command: {})", name, part(command, value_bytes_max));
    }
    std::string inside;
    for (const std::string& argument : arguments.names()) {
        if (!inside.empty()) inside += ", ";
        inside += fmt::format("{}: {}", part(argument, value_bytes_max),
                              value_text(argument, arguments[argument]));
        if (inside.size() > subject_bytes_max) break;
    }
    return inside.empty() ? name : fmt::format("{} ({})", name, inside);
}

std::vector<Entry> entries_of(const Request& request) {
    if (!request.outcome || request.outcome == Outcome::allowed) return {};
    Entry entry = about(request);
    entry.label = "Approval";
    entry.text = fmt::format("{}: {}", outcome_word(*request.outcome), subject_of(request));
    entry.at = request.settled_at;
    if (request.decision) {
        add_paragraph(entry, "Reason", request.decision->reason);
        add_paragraph(entry, "Note", request.decision->note);
        add_paragraph(entry, "Guidance", request.decision->guidance);
    } else if (request.outcome == Outcome::denied) {
        add_paragraph(entry, "Because", request.because);
    }
    if (request.outcome == Outcome::modified) {
        add_paragraph(entry, "Changed", changes_of(request));
    }
    add_people(entry, request);
    return {entry};
}

Entry entry_of(const Request& request, const Release& release, const Ran& ran) {
    Entry entry = about(request);
    describe(entry, release, ran.is_success);
    entry.has_run = true;
    entry.paths = paths_in(release.arguments);
    if (!ran.is_success) add_paragraph(entry, "Error", without_secrets(ran.error));
    add_people(entry, request);
    return entry;
}

std::string commit_message(const Entry& entry, bool is_known, std::size_t missed) {
    const bool uses_known = is_known && !entry.text_if_known.empty();
    const std::string text =
        fmt::format("[{}] {}", entry.label, uses_known ? entry.text_if_known : entry.text);
    std::string message = one_line(text, subject_bytes_max) + "\n\n";
    for (const std::string& paragraph : entry.paragraphs) {
        message += indented(without_secrets(paragraph)) + '\n';
    }
    for (const auto& [name, value] : entry.trailers) {
        if (value.empty()) continue;
        message += fmt::format("{}: {}\n", name, one_line(value, trailer_bytes_max));
    }
    if (missed > 0) message += fmt::format("Holdpoint-Missed: {}\n", missed);
    return message;
}

}  // namespace holdpoint::agent::git
