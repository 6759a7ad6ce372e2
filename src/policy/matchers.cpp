#include "policy/matchers.h"

#include "policy/shell/cover.h"
#include "policy/shell/search.h"
#include "policy/shell_line.h"

namespace holdpoint::policy {
namespace {

/// `[git, [push, reset], {has: ["-f"]}]` in the words of the shell reader.
shell::CommandPattern command_pattern(const ShellCommand& command) {
    shell::CommandPattern pattern;
    for (const ShellWord& word : command) {
        if (word.is_option_set)
            pattern.has.insert(pattern.has.end(), word.any_of.begin(), word.any_of.end());
        else
            pattern.words.push_back(word.any_of);
    }
    return pattern;
}

std::string_view operator_text(shell::Operator between) {
    switch (between) {
        case shell::Operator::sequence:
            return "\1;";
        case shell::Operator::and_then:
            return "\1&&";
        case shell::Operator::or_else:
            return "\1||";
        case shell::Operator::pipe:
            return "\1|";
        case shell::Operator::end:
            break;
    }
    return "\1";
}

Error at(Mark mark, const Error& error) { return yaml::error_at(mark, error.message); }

}  // namespace

// Not make_unique: that clears the arrays first, which costs more than reading a command.
ShellLine::ShellLine() : reading_(std::make_unique_for_overwrite<Reading>()) {}
ShellLine::~ShellLine() = default;
ShellLine::ShellLine(ShellLine&&) noexcept = default;
ShellLine& ShellLine::operator=(ShellLine&&) noexcept = default;

void ShellLine::read(std::string_view text, std::string_view dialect) {
    shell::prove(text, shell::dialect_of(dialect), reading_->proved);
    reading_->text = text;
    reading_->is_searched = false;
}

bool ShellLine::is_opaque() const { return reading_->proved.is_opaque(); }

std::string_view ShellLine::reason() const { return to_string(reading_->proved.opacity()); }

std::size_t ShellLine::position() const { return reading_->proved.position(); }

std::size_t ShellLine::size() const { return reading_->proved.size(); }

std::size_t ShellLine::word_count(std::size_t command) const {
    return reading_->proved[command].size();
}

std::string_view ShellLine::word(std::size_t command, std::size_t index) const {
    return reading_->proved[command][index];
}

std::uint32_t ShellLine::all_commands() const { return shell::all_commands(reading_->proved); }

std::vector<std::string> ShellLine::words() const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < size(); ++i) {
        if (i > 0) out.emplace_back(operator_text(reading_->proved[i - 1].followed_by()));
        for (std::size_t j = 0; j < word_count(i); ++j) out.emplace_back(word(i, j));
    }
    return out;
}

std::string ShellLine::plain_text() const {
    std::string out;
    for (const std::string& word : words()) {
        if (!out.empty()) out += ' ';
        out += is_separator(word) ? word.substr(1) : word;
    }
    return out;
}

const shell::Search& ShellLine::search() const {
    // Most lines meet no rule that searches, so this reading is made when one asks.
    if (!reading_->is_searched) reading_->search.read(reading_->text);
    reading_->is_searched = true;
    return reading_->search;
}

struct ShellMatcher::Compiled {
    std::vector<shell::SearchPattern> any;
    std::vector<std::vector<shell::SearchPattern>> pipe;
    std::vector<shell::AllowPattern> every;
    std::optional<bool> opaque;
};

Result<ShellMatcher> ShellMatcher::compile(const ShellTest& test,
                                           const std::vector<HostExecutable>& executables) {
    auto compiled = std::make_shared<Compiled>();
    compiled->opaque = test.opaque;
    const auto searching = [&](const std::vector<ShellCommand>& commands)
        -> Result<std::vector<shell::SearchPattern>> {
        std::vector<shell::SearchPattern> out;
        for (const ShellCommand& command : commands) {
            Result<shell::SearchPattern> pattern =
                shell::SearchPattern::compile(command_pattern(command));
            if (!pattern) return at(test.mark, pattern.error());
            out.push_back(std::move(*pattern));
        }
        return out;
    };
    Result<std::vector<shell::SearchPattern>> any = searching(test.any);
    if (!any) return any.error();
    compiled->any = std::move(*any);
    for (const std::vector<ShellCommand>& stage : test.pipe) {
        Result<std::vector<shell::SearchPattern>> patterns = searching(stage);
        if (!patterns) return patterns.error();
        compiled->pipe.push_back(std::move(*patterns));
    }
    shell::HostExecutables hosts;
    for (const HostExecutable& host : executables) hosts.push_back({host.name, host.paths});
    for (const ShellCommand& command : test.every) {
        const shell::CommandPattern pattern = command_pattern(command);
        Result<shell::AllowPattern> allow = shell::AllowPattern::compile(pattern, hosts);
        if (!allow) return at(test.mark, allow.error());
        compiled->every.push_back(std::move(*allow));
    }
    ShellMatcher matcher;
    matcher.compiled_ = std::move(compiled);
    return matcher;
}

std::vector<std::string> ShellMatcher::doubts(const ShellTest& test) {
    std::vector<std::string> found;
    for (const ShellCommand& command : test.every)
        if (const Result<void> ok = shell::AllowPattern::check(command_pattern(command)); !ok)
            found.push_back(ok.error().message);
    return found;
}

bool ShellMatcher::finds(const ShellLine& line) const {
    const Compiled& compiled = *compiled_;
    if (compiled.opaque) return line.is_opaque() == *compiled.opaque;
    const shell::Search& search = line.search();
    // What was not looked through to its end may hold anything.
    if (!search.is_complete()) return true;
    if (!compiled.pipe.empty()) return search.finds_pipe(compiled.pipe);
    return search.finds_any(compiled.any);
}

std::uint32_t ShellMatcher::covered(const ShellLine& line) const {
    if (line.is_opaque()) return 0;
    return shell::covered_commands(line.reading().proved, compiled_->every);
}

}  // namespace holdpoint::policy
