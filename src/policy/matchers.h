#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "policy/file.h"

/// The matchers of a rule, compiled: thin bridges from the file's words to shell/ and match/.
/// Immutable and safe from any thread.
namespace holdpoint::policy {

namespace shell {
class Search;
}

/// A shell command that was read, both ways. Keeps copies of nothing: the text must outlive it.
class ShellLine {
  public:
    ShellLine();
    ~ShellLine();
    ShellLine(ShellLine&&) noexcept;
    ShellLine& operator=(ShellLine&&) noexcept;

    /// Reads again, reusing memory.
    void read(std::string_view text, std::string_view dialect);

    bool is_opaque() const;
    std::string_view reason() const;  ///< why it is opaque
    std::size_t position() const;     ///< where, in bytes
    std::size_t size() const;         ///< simple commands, if not opaque
    std::size_t word_count(std::size_t command) const;
    std::string_view word(std::size_t command, std::size_t index) const;
    std::uint32_t all_commands() const;  ///< one bit for each command; 0 if opaque
    /// The words of the whole line, command after command; between two commands stands a newline
    /// and the operator, which no word can be. Empty if opaque.
    std::vector<std::string> words() const;
    /// The same as one text with single blanks; empty if opaque.
    std::string plain_text() const;
    static bool is_separator(std::string_view word) { return word.starts_with('\1'); }

    /// The searching reading, made when it is first asked for.
    const shell::Search& search() const;

    struct Reading;
    const Reading& reading() const { return *reading_; }

  private:
    std::unique_ptr<Reading> reading_;
};

class ShellMatcher {
  public:
    static Result<ShellMatcher> compile(const ShellTest& test,
                                        const std::vector<HostExecutable>& executables);

    /// Patterns under `every` that will cover less than their author may think, or nothing at all:
    /// a program that runs what it is told, `git` without a subcommand.
    static std::vector<std::string> doubts(const ShellTest& test);

    /// For deny and require: whether what is looked for can be seen anywhere.
    bool finds(const ShellLine& line) const;
    /// For allow: one bit for each command that is covered; 0 for an opaque line.
    std::uint32_t covered(const ShellLine& line) const;

    struct Compiled;

  private:
    std::shared_ptr<const Compiled> compiled_;
};

enum class Match3 { no, yes, error };

class PathMatcher {
  public:
    static Result<PathMatcher> compile(const PathTest& test);

    /// Looks at a text argument or at every text of a list; whatever else stands there is an error.
    Match3 matches(const json::object& args) const;

    struct Compiled;

  private:
    std::shared_ptr<const Compiled> compiled_;
};

class PatternMatcher {
  public:
    /// A pattern that lets pass is anchored, one that requires is looked for anywhere.
    static Result<PatternMatcher> compile(const Pattern& pattern, Effect effect);

    /// Whether any text argument, at any depth, shows the pattern. `line` is the tool's shell
    /// command, if it has one.
    bool finds(const json::object& args, const ShellLine* line) const;
    /// Whether the named argument, or else every text argument, is covered whole.
    bool covers(const json::object& args, std::string_view shell_arg, const ShellLine* line) const;

    struct Compiled;

  private:
    std::shared_ptr<const Compiled> compiled_;
};

}  // namespace holdpoint::policy
