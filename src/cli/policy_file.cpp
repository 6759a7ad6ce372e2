#include "cli/policy_file.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <optional>

#include "cli/terminal.h"
#include "policy/compile.h"
#include "policy/extend.h"
#include "server/policy_file.h"

namespace holdpoint::cli {
namespace {

std::optional<int> take_number(std::string_view& text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

bool take_flag_word(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
}

/// The name in ``in `parent.yaml`: `` at the front of `text`, which loses it.
std::optional<std::string> take_parent(std::string_view& text) {
    std::string_view rest = text;
    if (!take_flag_word(rest, "in `")) return std::nullopt;
    const std::size_t end = rest.find("`: ");
    if (end == std::string_view::npos) return std::nullopt;
    std::string name(rest.substr(0, end));
    text = rest.substr(end + 3);
    return name;
}

std::string shown_name(const std::string& path) { return path == "-" ? "<stdin>" : path; }

}  // namespace

Error with_place(Error error, const std::string& path) {
    std::string_view text = error.message;
    std::string file = shown_name(path);
    if (const auto parent = take_parent(text)) {
        const bool is_preset = !policy::preset_text(*parent).empty();
        const auto folder = std::filesystem::path(path).parent_path();
        file = is_preset ? *parent : (folder / *parent).string();
    }
    std::string_view rest = text;
    const bool has_line = take_flag_word(rest, "line ");
    const auto line = has_line ? take_number(rest) : std::nullopt;
    const bool has_column = line && take_flag_word(rest, ", column ");
    const auto column = has_column ? take_number(rest) : std::nullopt;
    if (column && take_flag_word(rest, ": "))
        error.message = fmt::format("{}:{}:{}: {}", file, *line, *column, rest);
    else
        error.message = fmt::format("{}: {}", file, text);
    return error;
}

Result<std::string> read_given_policy(const std::string& path) {
    return path == "-" ? read_input(path) : server::read_policy_text(path);
}

Result<PolicyPointer> load_given_policy(const std::string& path, FailingTests tests) {
    const Result<std::string> text = read_given_policy(path);
    if (!text) return text.error();
    policy::LoadOptions options;
    options.read_parent = server::parents_beside(path == "-" ? "" : path);
    options.may_fail_tests = tests == FailingTests::accept;
    Result<PolicyPointer> loaded = policy::load(*text, options);
    if (!loaded) return with_place(loaded.error(), path);
    return loaded;
}

ExitCode fail_policy(const Output& out, const Error& error) {
    const ExitCode code = out.fail(error);
    return code == ExitCode::usage ? ExitCode::failed : code;
}

}  // namespace holdpoint::cli
