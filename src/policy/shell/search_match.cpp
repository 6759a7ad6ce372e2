// Comparing what was found with patterns; finding is in search.cpp.
#include <algorithm>

#include "base/ascii.h"
#include "policy/match/glob.h"
#include "policy/shell/search.h"
#include "policy/shell/words.h"

namespace holdpoint::policy::shell {
namespace {

constexpr std::size_t pattern_words_max = 32;

using ascii::lower;

bool equal_in_any_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, lower, lower);
}

bool is_version(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; });
}

/// `sudo` is meant by `/usr/bin/sudo`, `SUDO` (some file systems do not mind), `sudo.exe`, `sud?`;
/// `python` by `python3.11`.
bool is_program(std::string_view word, bool has_glob, std::string_view name) {
    word = base_name(word);
    if (word.size() >= name.size() && equal_in_any_case(word.substr(0, name.size()), name)) {
        const std::string_view rest = word.substr(name.size());
        if (is_version(rest) || equal_in_any_case(rest, ".exe")) return true;
    }
    return has_glob && match::glob_matches(word, name, match::GlobKind::text);
}

bool is_word(std::string_view word, bool has_glob, std::string_view wanted) {
    return word == wanted || (has_glob && match::glob_matches(word, wanted, match::GlobKind::text));
}

/// `--force` is also `--force=x` and `--forc`; `-f` is also `-uf`.
bool is_spelling_of(std::string_view word, std::string_view wanted) {
    if (word == wanted) return true;
    if (!is_option(word) || !is_option(wanted)) return false;
    if (wanted[1] == '-') {
        const std::string_view name = word.substr(0, word.find('='));
        return name.size() >= 4 && wanted.starts_with(name);
    }
    const bool is_letter = wanted.size() == 2;
    if (is_letter) return word[1] != '-' && word.contains(wanted[1]);
    return word.starts_with(wanted) && word[wanted.size()] == '=';
}

}  // namespace

Result<SearchPattern> SearchPattern::compile(CommandPattern pattern) {
    const auto refused = [](const char* message) {
        return Error{ErrorCode::invalid_argument, message};
    };
    if (pattern.words.empty()) return refused("a pattern needs a program");
    if (pattern.words.size() > pattern_words_max) return refused("a pattern has at most 32 words");
    for (const std::vector<std::string>& alternatives : pattern.words) {
        if (alternatives.empty()) return refused("a place in a pattern has no word");
        for (const std::string& word : alternatives) {
            if (word.empty()) return refused("a word of a pattern is empty");
        }
    }
    for (const std::string& name : pattern.words[0]) {
        if (name.contains('/'))
            return refused("name the program without its path: every path is found");
    }
    for (const std::string& word : pattern.has) {
        if (word.empty()) return refused("a word of `has` is empty");
    }
    SearchPattern result;
    result.words_ = std::move(pattern.words);
    result.has_ = std::move(pattern.has);
    return result;
}

bool Search::finds(const SearchPattern& pattern) const {
    return std::ranges::any_of(found_, [&](const Found& found) { return matches(found, pattern); });
}

bool Search::finds_any(std::span<const SearchPattern> patterns) const {
    return std::ranges::any_of(patterns,
                               [&](const SearchPattern& pattern) { return finds(pattern); });
}

bool Search::matches(const Found& found, const SearchPattern& pattern) const {
    const LexedWord& program = words_[found.first];
    const bool is_named = std::ranges::any_of(pattern.words_[0], [&](const std::string& name) {
        return is_program(word(found.first), program.has_glob, name);
    });
    return is_named && has_all_words(found, pattern) && has_any(found, pattern);
}

/// Follows all ways of reading the options at once. A bit stands for the number of the pattern's
/// words found so far: in `firm` the next word that is no option must be the pattern's next, in
/// `behind_option` it may also be the value of the option before.
bool Search::has_all_words(const Found& found, const SearchPattern& pattern) const {
    const std::size_t wanted = pattern.words_.size();
    if (wanted == 1) return true;
    std::uint64_t firm = 2;
    std::uint64_t behind_option = 0;
    for (std::size_t i = 1; i < found.count && (firm | behind_option) != 0; ++i) {
        const std::string_view text = word(found.first + i);
        const bool has_glob = words_[found.first + i].has_glob;
        std::uint64_t advanced = 0;
        for (std::size_t place = 1; place < wanted; ++place) {
            if (((firm | behind_option) >> place & 1) == 0) continue;
            const bool is_next = std::ranges::any_of(
                pattern.words_[place],
                [&](const std::string& other) { return is_word(text, has_glob, other); });
            if (!is_next) continue;
            if (place + 1 == wanted) return true;
            advanced |= std::uint64_t{2} << place;
        }
        if (is_option(text)) {
            behind_option |= firm;
            firm = advanced;
        } else {
            firm = behind_option | advanced;
            behind_option = 0;
        }
    }
    return false;
}

bool Search::has_any(const Found& found, const SearchPattern& pattern) const {
    if (pattern.has_.empty()) return true;
    for (std::size_t i = 1; i < found.count; ++i) {
        const std::string_view text = word(found.first + i);
        for (const std::string& wanted : pattern.has_) {
            if (is_spelling_of(text, wanted) ||
                is_word(text, words_[found.first + i].has_glob, wanted)) {
                return true;
            }
        }
    }
    return false;
}

/// The commands lie sorted by pipeline and stage, so one pass does it. The first that fits is as
/// good as any later one.
bool Search::finds_pipe(std::span<const std::vector<SearchPattern>> stages) const {
    if (stages.empty()) return false;
    std::size_t done = 0;
    for (std::size_t i = 0; i < found_.size();) {
        const Found& first = found_[i];
        if (i > 0 && found_[i - 1].pipeline != first.pipeline) done = 0;
        bool is_next = false;
        for (; i < found_.size() && found_[i].pipeline == first.pipeline &&
               found_[i].stage == first.stage;
             ++i) {
            is_next =
                is_next || std::ranges::any_of(stages[done], [&](const SearchPattern& pattern) {
                    return matches(found_[i], pattern);
                });
        }
        if (is_next && ++done == stages.size()) return true;
    }
    return false;
}

}  // namespace holdpoint::policy::shell
