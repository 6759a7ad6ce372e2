#include "policy/shell/cover.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace holdpoint::policy::shell {
namespace {

std::vector<std::string_view> split(std::string_view list) {
    std::vector<std::string_view> words;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(' '), list.size());
        if (end > 0) words.push_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return words;
}

template <class Words>
bool contains(const Words& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

/// Most options begin with another letter than the unsafe ones: one look tells.
std::uint64_t letter_bit(char c) {
    return std::uint64_t{1} << (static_cast<unsigned char>(c) & 63);
}

std::string_view before_value(std::string_view word) { return word.substr(0, word.find('=')); }

/// The kinds that no prefix covers.
Gap gap_of(ProgramKind kind) {
    switch (kind) {
        case ProgramKind::plain:
        case ProgramKind::writer:
            return Gap::none;
        case ProgramKind::builtin:
            return Gap::builtin;
        case ProgramKind::wrapper:
            return Gap::wrapper;
        case ProgramKind::interpreter:
            return Gap::interpreter;
    }
    return Gap::no_pattern;
}

std::string shown(std::string_view word) {
    return fmt::format("`{}`", visible(cut_utf8(word, 64)));
}

Error refused(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

Result<void> check_program(std::string_view name, const CommandPattern& pattern) {
    if (name.empty()) return refused("a pattern needs a program");
    if (name.contains('/')) {
        return refused(fmt::format("{}: name the program without its path", shown(name)));
    }
    const Program* program = find_program(name);
    if (!program) return {};
    if (const Gap gap = gap_of(program->kind); gap != Gap::none) {
        return refused(fmt::format("{} cannot be allowed by its first words: it is {}", shown(name),
                                   to_string(gap)));
    }
    if (!program->has_subcommands) return {};
    if (pattern.words.size() < 2) {
        return refused(fmt::format("{} has subcommands: name those that are meant", shown(name)));
    }
    for (const std::string& sub : pattern.words[1]) {
        if (sub.starts_with('-') || sub.empty()) {
            return refused(fmt::format("{} needs a subcommand before {}", shown(name), shown(sub)));
        }
        const bool is_whole = pattern.words.size() == 2;
        if (is_whole && contains(split(program->never_subcommands), sub)) {
            return refused(fmt::format("{} cannot be allowed by its first words: {}",
                                       shown(fmt::format("{} {}", name, sub)),
                                       to_string(Gap::subcommand)));
        }
    }
    return {};
}

}  // namespace

std::string_view to_string(Gap gap) {
    switch (gap) {
        case Gap::none:
            return "covered";
        case Gap::no_pattern:
            return "no rule names it";
        case Gap::path:
            return "a program named by its path";
        case Gap::builtin:
            return "a builtin that changes the shell or evaluates its arguments";
        case Gap::wrapper:
            return "a program that runs the command in its arguments";
        case Gap::interpreter:
            return "a program that runs the code in its arguments";
        case Gap::writer:
            return "a program that writes where its arguments say";
        case Gap::subcommand:
            return "a subcommand that runs or writes what its arguments say";
        case Gap::option:
            return "an option that runs commands, writes files or reads settings from elsewhere";
        case Gap::operands:
            return "one argument more than this program may have";
    }
    return "not covered";
}

AllowPattern::Options::Options(const UnsafeOptions& unsafe)
    : longs(split(unsafe.longs)),
      flags(split(unsafe.flags)),
      parts(split(unsafe.parts)),
      shorts(unsafe.shorts),
      valued_shorts(unsafe.valued_shorts),
      operands_max(unsafe.operands_max),
      refuses_assignments(unsafe.refuses_assignments),
      bundles_first(unsafe.bundles_first) {
    for (const std::string_view option : longs) long_letters |= letter_bit(option[2]);
}

bool AllowPattern::Options::has_unsafe_short(std::string_view word) const {
    if (word.size() < 2 || word[0] != '-' || word[1] == '-') return false;
    for (const char letter : word.substr(1)) {
        if (shorts.contains(letter)) return true;
        if (valued_shorts.contains(letter)) return false;
    }
    return false;
}

/// Also where the word stands behind `--` or is another option's value: asking too often there is
/// better than knowing every program's grammar almost.
bool AllowPattern::Options::is_unsafe(std::string_view word) const {
    for (const std::string_view part : parts) {
        if (word.contains(part)) return true;
    }
    if (refuses_assignments && word.contains('=') && !word.starts_with('-')) return true;
    if (!word.starts_with('-')) return false;
    if (!shorts.empty() && has_unsafe_short(word)) return true;

    const std::string_view name = before_value(word);
    if (name.size() > 2 && name[1] == '-' && (long_letters & letter_bit(name[2])) != 0) {
        for (const std::string_view option : longs) {
            if (option.starts_with(name)) return true;
        }
    }
    const std::string_view flag = name.substr(name.starts_with("--") ? 2 : 1);
    return contains(flags, flag);
}

Result<void> AllowPattern::check(const CommandPattern& pattern) {
    if (pattern.words.empty()) return refused("a pattern needs a program");
    if (!pattern.has.empty()) return refused("`has` works in deny and require rules only");
    for (const std::vector<std::string>& alternatives : pattern.words) {
        if (alternatives.empty()) return refused("a place in a pattern has no word");
    }
    for (const std::string& name : pattern.words[0]) {
        if (Result<void> ok = check_program(name, pattern); !ok) return ok;
        const Program* program = find_program(name);
        if (!program || pattern.words.size() < 2) continue;
        const Options options(program->unsafe);
        for (const std::string& word : pattern.words.back()) {
            if (word.contains('=') || !options.is_unsafe(word)) continue;
            return refused(fmt::format("{} in a pattern for {} needs its value behind it: {}",
                                       shown(word), shown(name), to_string(Gap::option)));
        }
    }
    return {};
}

Result<AllowPattern> AllowPattern::compile(CommandPattern pattern,
                                           const HostExecutables& executables) {
    if (pattern.words.empty()) return refused("a pattern needs a program");
    if (!pattern.has.empty()) return refused("`has` works in deny and require rules only");
    AllowPattern result;
    for (const std::string& word : pattern.words[0]) {
        Name name;
        name.name = word;
        name.program = find_program(word);
        for (const HostExecutable& executable : executables) {
            if (executable.name == word) name.paths = executable.paths;
        }
        if (name.program) {
            name.options.emplace_back(name.program->unsafe);
            if (pattern.words.size() > 1) {
                const std::vector<std::string_view> never = split(name.program->never_subcommands);
                for (const std::string& sub : pattern.words[1]) {
                    if (contains(never, sub)) name.never_subcommands.push_back(sub);
                    const Subcommand* found = find_subcommand(name.program->name, sub);
                    if (found) result.subs_.push_back({sub, {Options(found->unsafe)}});
                }
            }
        }
        result.names_.push_back(std::move(name));
    }
    result.words_ = std::move(pattern.words);
    return result;
}

/// A path counts only if it is declared: base names are for deny rules.
const AllowPattern::Name* AllowPattern::name_of(std::string_view program, bool& is_path) const {
    is_path = program.contains('/');
    for (const Name& name : names_) {
        if (is_path ? contains(name.paths, program) : name.name == program) {
            return &name;
        }
    }
    return nullptr;
}

bool AllowPattern::matches_word(std::size_t place, std::string_view word) const {
    return contains(words_[place], word);
}

Cover AllowPattern::cover(const Command& command) const {
    if (command.size() < words_.size()) return {Gap::no_pattern, command.size()};
    bool is_path = false;
    const Name* name = name_of(command.program(), is_path);
    if (!name) return {is_path ? Gap::path : Gap::no_pattern, 0};
    for (std::size_t place = 1; place < words_.size(); ++place) {
        if (!matches_word(place, command[place])) return {Gap::no_pattern, place};
    }
    // A path in the pattern itself is no declaration.
    if (name->name.contains('/')) return {Gap::path, 0};
    return check_rest(*name, command);
}

Cover AllowPattern::check_rest(const Name& name, const Command& command) const {
    const Program* program = name.program;
    if (!program) return {Gap::none, 0};
    if (const Gap gap = gap_of(program->kind); gap != Gap::none) return {gap, 0};
    if (program->has_subcommands) {
        if (words_.size() < 2 || command[1].starts_with('-')) return {Gap::subcommand, 1};
    }
    const bool is_spelt_out = command.size() == words_.size();
    if (is_spelt_out) return {Gap::none, 0};
    if (program->kind == ProgramKind::writer) return {Gap::writer, 0};
    if (contains(name.never_subcommands, command[1])) return {Gap::subcommand, 1};

    int operands = 0;
    const Options& options = name.options[0];
    for (std::size_t i = 1; i < command.size(); ++i) {
        const std::string_view word = command[i];
        if (!word.starts_with('-') || word == "-") ++operands;
        // An option that ends the pattern would take whatever the agent puts behind it.
        const bool is_authors_own =
            i < words_.size() && (i + 1 < words_.size() || word.contains('='));
        if (is_authors_own) continue;
        if (options.is_unsafe(word)) return {Gap::option, i};
        if (i == 1 && options.bundles_first && word.find_first_of(options.shorts) != word.npos) {
            return {Gap::option, i};
        }
        for (const Sub& sub : subs_) {
            if (sub.name == command[1] && sub.options[0].is_unsafe(word)) return {Gap::option, i};
        }
        if (options.operands_max >= 0 && operands > options.operands_max) return {Gap::operands, i};
    }
    return {Gap::none, 0};
}

std::uint32_t all_commands(const Reading& reading) {
    return reading.is_opaque() ? 0 : (std::uint32_t{1} << reading.size()) - 1;
}

std::uint32_t covered_commands(const Reading& reading, std::span<const AllowPattern> patterns) {
    if (reading.is_opaque()) return 0;
    std::uint32_t covered = 0;
    for (std::size_t i = 0; i < reading.size(); ++i) {
        const Command command = reading[i];
        const bool is_one = std::ranges::any_of(patterns, [&](const AllowPattern& pattern) {
            return pattern.cover(command).is_covered();
        });
        if (is_one) covered |= std::uint32_t{1} << i;
    }
    return covered;
}

bool is_covered(const Reading& reading, std::span<const AllowPattern> patterns) {
    const std::uint32_t all = all_commands(reading);
    return all != 0 && covered_commands(reading, patterns) == all;
}

Uncovered first_uncovered(const Reading& reading, std::span<const AllowPattern> patterns) {
    for (std::size_t i = 0; i < reading.size(); ++i) {
        Uncovered nearest{i, {}};
        for (const AllowPattern& pattern : patterns) {
            const Cover cover = pattern.cover(reading[i]);
            if (cover.is_covered()) {
                nearest.cover = cover;
                break;
            }
            // A pattern that got to the program's facts says more than one that did not fit.
            if (nearest.cover.gap == Gap::no_pattern) nearest.cover = cover;
        }
        if (!nearest.cover.is_covered()) return nearest;
    }
    return {reading.size(), {Gap::none, 0}};
}

}  // namespace holdpoint::policy::shell
