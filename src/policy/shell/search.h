#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/shell/cover.h"
#include "policy/shell/lexer.h"

/// The searching reading of a shell command: for rules that deny or require. It works on any text,
/// finds more than would run rather than less, and must never be used to prove that a command is
/// safe.
namespace holdpoint::policy::shell {

/// A pattern of a deny or require rule, compiled once. The program is compared by its base name,
/// in any case, with or without a version behind it; the following words are found behind options
/// and their values, so `[git, push]` finds `git -C x push`. Words of `has` may stand anywhere
/// behind, abbreviated, with a value or in a cluster: `-f` finds `-uf`.
class SearchPattern {
  public:
    static Result<SearchPattern> compile(CommandPattern pattern);

  private:
    friend class Search;
    std::vector<std::vector<std::string>> words_;
    std::vector<std::string> has_;
};

/// What the commands of one line might be. Keeps its memory between readings, so that a searcher
/// that is used again does not allocate. One thread at a time.
class Search {
  public:
    static constexpr int depth_max = 8;  ///< of shells inside wrappers inside shells

    /// Replaces what was found before. Linear in the length of `text`.
    void read(std::string_view text);

    /// Whether everything was looked through. If not, whoever asks has to take every deny and
    /// require pattern for found: a limit that hides a command must not let it pass.
    bool is_complete() const { return is_complete_; }

    bool finds(const SearchPattern& pattern) const;
    bool finds_any(std::span<const SearchPattern> patterns) const;

    /// Whether what a command of the first stage prints reaches one of the second, and so on:
    /// through pipes, however many programs stand between, or by substitution as in
    /// `sh -c "$(curl …)"`. Each stage is a list of alternatives.
    bool finds_pipe(std::span<const std::vector<SearchPattern>> stages) const;

    /// The commands found, wrappers looked through: `sudo ls` is two. For tests and explanations.
    std::size_t size() const { return found_.size(); }
    std::vector<std::string> words(std::size_t index) const;

  private:
    struct Found {
        std::uint32_t first;  // in words_
        std::uint32_t count;
        std::uint32_t pipeline;
        std::uint32_t stage;
    };
    struct Pending {
        std::uint32_t offset;  // in text_
        std::uint32_t length;
        int depth;
        std::uint32_t pipeline;
        std::uint32_t stage;
        bool is_piped;
    };

    void read_level(std::string_view text, const Pending& level);
    void take(const LexedCommand& command, int depth);
    void look_at(std::size_t at, std::size_t end, unsigned traits, const LexedCommand& command,
                 int depth);
    void mark(std::size_t place, int chain);
    void mark_wrapped(std::size_t at, std::size_t end, int operands, int chain);
    void reread_each(std::size_t from, std::size_t end, bool for_shell, const LexedCommand& command,
                     int depth);
    void reread_joined(std::size_t from, std::size_t end, const LexedCommand& command, int depth);
    void push(std::size_t offset, std::size_t length, const LexedCommand& command, int depth);
    std::string_view word(std::size_t index) const;
    bool matches(const Found& found, const SearchPattern& pattern) const;
    bool has_all_words(const Found& found, const SearchPattern& pattern) const;
    bool has_any(const Found& found, const SearchPattern& pattern) const;

    Lexer lexer_;
    std::string text_;     // of all words
    std::string current_;  // what is being read again
    std::vector<LexedWord> words_;
    std::vector<Found> found_;
    std::vector<Pending> pending_;
    std::vector<std::uint8_t>
        marks_;               // how many wrappers stand before a word that may be a program
    std::size_t budget_ = 0;  // bytes that may be read again
    std::uint32_t pipelines_ = 0;
    bool is_complete_ = true;
};

}  // namespace holdpoint::policy::shell
