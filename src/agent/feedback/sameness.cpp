#include "agent/feedback/sameness.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "agent/feedback/text_form.h"
#include "base/ascii.h"

namespace holdpoint::agent::feedback {
namespace {

using ascii::is_upper;

/// `filePath`, `file-path` and `FilePath` as `file_path`.
std::string snake(std::string_view name) {
    std::string result;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        const bool begins = is_upper(c) && i > 0 && !is_upper(name[i - 1]) && name[i - 1] != '_';
        if (begins) result += '_';
        result += c == '-' ? '_' : ascii::lower(c);
    }
    return result;
}

bool is_path_name(std::string_view name) {
    return is_one_of(name, {"path", "paths", "file", "files", "filename", "filenames", "file_name",
                            "filepath", "dir", "directory", "folder", "cwd", "workdir", "src",
                            "dst", "dest", "destination", "location"}) ||
           name.ends_with("_path") || name.ends_with("_paths") || name.ends_with("_file") ||
           name.ends_with("_files") || name.ends_with("_dir") || name.ends_with("_directory") ||
           name.ends_with("_folder") || name.ends_with("_filename");
}

/// Lists in which order means nothing, unless the tool is about order.
bool is_set_name(std::string_view name) {
    return is_one_of(name, {"paths", "files", "filenames", "ids", "to", "cc", "bcc", "recipients",
                            "emails", "users", "members", "tags", "labels", "permissions", "roles",
                            "scopes"}) ||
           name.ends_with("_ids") || name.ends_with("_paths") || name.ends_with("_files");
}

bool is_about_order(std::string_view tool) {
    const std::string name = snake(tool);
    return std::ranges::any_of(
        std::initializer_list<std::string_view>{"move", "rename", "copy", "diff", "compare", "swap",
                                                "merge", "concat", "join", "sort", "order", "rank",
                                                "queue", "priorit", "link", "sequence", "playlist"},
        [&](std::string_view word) { return name.contains(word); });
}

/// Marks of the road an action takes, not of what it does.
bool is_road_name(std::string_view name) {
    return is_one_of(name, {"confirmed", "confirmation_token", "confirm_token", "idempotency_key",
                            "_meta", "tool_call_id"});
}

/// What an agent says about a command line beside it.
bool is_remark_name(std::string_view name) {
    return is_one_of(
        name, {"description", "explanation", "reason", "reasoning", "rationale", "justification",
               "thought", "thoughts", "purpose", "intent", "comment", "why"});
}

/// A text that is nothing but a number or a truth value is that; `1.0` and `007` are texts.
bool is_plain_scalar(std::string_view text) {
    if (text == "true" || text == "false") return true;
    if (text.empty() || text.size() > 24) return false;
    if (!is_one_of(text.substr(0, 1), {"-", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"})) {
        return false;
    }
    const Result<json::value> number = json::parse(text);
    return number && number->is_number() && json::canonical(*number) == text;
}

std::optional<std::vector<std::string>> texts_of(const json::value& value) {
    if (!value.is_array()) return std::nullopt;
    std::vector<std::string> texts;
    for (const json::value& item : value.get_array()) {
        if (!item.is_string()) return std::nullopt;
        texts.emplace_back(item.get_string());
    }
    return texts;
}

class Writer {
  public:
    Writer(std::string_view tool, const SamenessOptions& options)
        : tool_(tool), options_(options), is_ordered_(is_about_order(tool)) {}

    Likeness write(const json::value& arguments) {
        json::append_quoted(out_.key, tool_);
        if (arguments.is_object()) {
            top(arguments.get_object());
        } else {
            value(arguments, ArgumentKind::line, "");
        }
        return std::move(out_);
    }

  private:
    ArgumentKind kind_of(std::string_view name) const;
    void top(const json::object& arguments);
    void member(std::string_view name, const json::value& value);
    void value(const json::value& value, ArgumentKind kind, std::string_view name);
    void object(const json::object& object);
    void array(const json::array& array, ArgumentKind kind, std::string_view name);
    void text(std::string_view text, ArgumentKind kind);
    void scalar(const std::string& text);
    bool command(const json::object& arguments, std::vector<std::string>& done);
    void take(CommandForm form);

    std::string_view tool_;
    const SamenessOptions& options_;
    bool is_ordered_;
    Likeness out_;
};

ArgumentKind Writer::kind_of(std::string_view name) const {
    const auto declared = options_.kinds.find(std::string(tool_) + "." + std::string(name));
    return declared != options_.kinds.end() ? declared->second : kind_of_name(name);
}

/// The members of an object by name; a name in another spelling is another argument.
std::vector<std::string> sorted_names(const json::object& object) {
    std::vector<std::string> names;
    for (const auto& member : object) names.emplace_back(member.key());
    std::ranges::sort(names);
    return names;
}

void Writer::top(const json::object& arguments) {
    std::vector<std::string> done;
    out_.key += '{';
    const bool is_command = command(arguments, done);
    for (const std::string& name : sorted_names(arguments)) {
        const json::value& argument = arguments.at(name);
        // An argument that is null is one that was not given.
        if (argument.is_null() || std::ranges::find(done, name) != done.end()) continue;
        if (is_road_name(snake(name)) || (is_command && is_remark_name(snake(name)))) continue;
        member(name, argument);
    }
    out_.key += '}';
}

/// A command line, with its further words where they stand apart: `{"command": "rm", "args": […]}`.
bool Writer::command(const json::object& arguments, std::vector<std::string>& done) {
    for (const std::string& name : sorted_names(arguments)) {
        if (kind_of(name) != ArgumentKind::shell) continue;
        const json::value& line = arguments.at(name);
        std::vector<std::string> further;
        for (const std::string_view other : {"args", "arguments", "argv"}) {
            const json::value* words = arguments.if_contains(other);
            const auto texts = words != nullptr ? texts_of(*words) : std::nullopt;
            if (!texts) continue;
            further = *texts;
            done.emplace_back(other);
            break;
        }
        std::optional<CommandForm> form;
        if (line.is_string()) {
            form = command_form(std::string_view(line.get_string()), further, options_.paths);
        } else if (auto words = texts_of(line); words && !words->empty()) {
            words->insert(words->end(), further.begin(), further.end());
            form = command_form(*words, options_.paths);
        }
        if (!form) {
            done.clear();
            continue;
        }
        done.push_back(name);
        json::append_quoted(out_.key, name);
        take(std::move(*form));
        return true;
    }
    return false;
}

void Writer::take(CommandForm form) {
    out_.key += form.text;
    for (LooseWords& loose : form.loose) out_.loose.push_back(std::move(loose));
}

void Writer::member(std::string_view name, const json::value& argument) {
    const ArgumentKind kind = kind_of(name);
    if (kind == ArgumentKind::ignored) return;
    json::append_quoted(out_.key, name);
    out_.key += ':';
    value(argument, kind, name);
    out_.key += ',';
}

void Writer::value(const json::value& argument, ArgumentKind kind, std::string_view name) {
    if (argument.is_object()) return object(argument.get_object());
    if (argument.is_array()) return array(argument.get_array(), kind, name);
    if (argument.is_string()) return text(std::string_view(argument.get_string()), kind);
    scalar(json::canonical(argument));
}

void Writer::object(const json::object& object) {
    out_.key += '{';
    for (const std::string& name : sorted_names(object)) member(name, object.at(name));
    out_.key += '}';
}

void Writer::array(const json::array& array, ArgumentKind kind, std::string_view name) {
    if (kind == ArgumentKind::shell) kind = ArgumentKind::line;  // words of no command
    const bool is_set =
        !is_ordered_ && is_set_name(snake(name)) &&
        std::ranges::none_of(array, [](const json::value& item) { return item.is_structured(); });
    std::vector<std::string> items;
    const std::string before = std::exchange(out_.key, {});
    for (const json::value& item : array) {
        value(item, kind, name);
        items.push_back(std::exchange(out_.key, {}));
    }
    out_.key = before;
    if (is_set) std::ranges::sort(items);
    out_.key += '[';
    for (const std::string& item : items) out_.key += item + ',';
    out_.key += ']';
}

/// Texts are quoted and scalars are not, so that they never meet.
void Writer::scalar(const std::string& text) { out_.key += text; }

void Writer::text(std::string_view text, ArgumentKind kind) {
    std::string form;
    switch (kind) {
        case ArgumentKind::shell:
            if (auto command = command_form(text, {}, options_.paths)) return take(*command);
            form = content_form(text);
            break;
        case ArgumentKind::content:
            form = content_form(text);
            break;
        case ArgumentKind::prose:
            form = prose_form(text);
            break;
        case ArgumentKind::path:
            form = text.contains("://") && !text.starts_with("file:")
                       ? url_form(text).value_or(line_form(text))
                       : path_form(text, options_.paths);
            break;
        case ArgumentKind::line:
        case ArgumentKind::ignored: {
            const bool is_short = !text.contains('\n');
            const bool is_path = is_short && (text.starts_with('/') || text.starts_with("./") ||
                                              text.starts_with("../") || text.starts_with("~/"));
            if (is_plain_scalar(line_form(text))) return scalar(line_form(text));
            if (const auto url = url_form(text)) {
                form = *url;
            } else if (const auto email = email_form(text)) {
                form = *email;
            } else if (is_path && text.find(' ') == std::string_view::npos) {
                form = path_form(text, options_.paths);
            } else {
                form = is_short ? line_form(text) : content_form(text);
            }
            break;
        }
    }
    json::append_quoted(out_.key, form);
}

}  // namespace

ArgumentKind kind_of_name(std::string_view name) {
    const std::string plain = snake(name);
    if (is_one_of(plain, {"command", "cmd", "shell", "bash", "command_line", "shell_command",
                          "bash_command", "cmdline"})) {
        return ArgumentKind::shell;
    }
    if (is_path_name(plain)) return ArgumentKind::path;
    if (is_one_of(plain,
                  {"content",  "contents", "code",        "source",     "source_code", "script",
                   "patch",    "diff",     "old_string",  "new_string", "old_str",     "new_str",
                   "old_text", "new_text", "insert_text", "file_text",  "data",        "yaml",
                   "html",     "css",      "pattern",     "regex",      "replacement"})) {
        return ArgumentKind::content;
    }
    if (is_one_of(plain, {"message", "body", "subject", "text", "note", "notes", "comment",
                          "description", "title", "summary", "reason", "prompt", "question",
                          "caption", "greeting", "reply"})) {
        return ArgumentKind::prose;
    }
    return ArgumentKind::line;
}

Likeness likeness_of(std::string_view tool, const json::value& arguments,
                     const SamenessOptions& options) {
    return Writer(tool, options).write(arguments);
}

bool is_same(const Likeness& a, const Likeness& b) {
    return a.key == b.key &&
           std::ranges::equal(a.loose, b.loose, [](const LooseWords& x, const LooseWords& y) {
               return is_same(x, y);
           });
}

}  // namespace holdpoint::agent::feedback
