#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/shell/programs.h"
#include "policy/shell/reading.h"

namespace holdpoint::policy::shell {

/// How a rule names commands: `[git, [status, diff]]` is two places, the second with two
/// alternatives. `has` are words that must stand somewhere behind; only searching knows them.
struct CommandPattern {
    std::vector<std::vector<std::string>> words;
    std::vector<std::string> has = {};
};

/// Full paths that count as a program's name: `{git, {/usr/bin/git}}`. Without an entry a program
/// with a `/` in its name is never covered.
struct HostExecutable {
    std::string name;
    std::vector<std::string> paths;
};
using HostExecutables = std::vector<HostExecutable>;

/// Why a command is not covered by the pattern that comes nearest.
enum class Gap : std::uint8_t {
    none,
    no_pattern,  ///< no pattern begins with these words
    path,        ///< the program's name holds a `/` and is no declared executable
    builtin,
    wrapper,
    interpreter,
    writer,      ///< and the pattern does not spell out every word
    subcommand,  ///< one that runs or writes what its arguments say, or the pattern names none
    option,      ///< in the table of unsafe options
    operands     ///< an argument too many: the program writes there
};

std::string_view to_string(Gap gap);

struct Cover {
    Gap gap = Gap::no_pattern;
    std::size_t word = 0;  ///< the word it stumbled over

    bool is_covered() const { return gap == Gap::none; }
};

/// One pattern of an allow rule, compiled once. Safe from any thread.
class AllowPattern {
  public:
    /// invalid_argument for a pattern without words or with `has`. A pattern that check() refuses
    /// compiles too; it covers nothing that it must not.
    static Result<AllowPattern> compile(CommandPattern pattern,
                                        const HostExecutables& executables = {});

    /// What the loader asks of a pattern: its program can be covered at all, is named without a
    /// path, has a subcommand where the program has such (and more words behind one that runs or
    /// writes what it is told), and does not end in an unsafe option.
    static Result<void> check(const CommandPattern& pattern);

    /// Whether the command begins with the pattern's words and nothing in it is unsafe. Words that
    /// the pattern spells out are the author's own, so `[ctest, --test-dir, build]` covers
    /// `ctest --test-dir build -j 4`.
    Cover cover(const Command& command) const;

  private:
    struct Options {
        std::vector<std::string_view> longs;
        std::vector<std::string_view> flags;
        std::vector<std::string_view> parts;
        std::uint64_t long_letters = 0;  ///< what the long ones begin with
        std::string_view shorts;
        std::string_view valued_shorts;
        int operands_max = -1;
        bool refuses_assignments = false;
        bool bundles_first = false;

        explicit Options(const UnsafeOptions& unsafe);
        bool is_unsafe(std::string_view word) const;
        bool has_unsafe_short(std::string_view word) const;
    };
    struct Name {
        std::string name;
        std::vector<std::string> paths;
        const Program* program = nullptr;
        std::vector<std::string> never_subcommands;  ///< of those that the pattern names
        std::vector<Options> options;                ///< one where there is a program
    };
    struct Sub {
        std::string name;
        std::vector<Options> options;
    };

    const Name* name_of(std::string_view program, bool& is_path) const;
    bool matches_word(std::size_t place, std::string_view word) const;
    Cover check_rest(const Name& name, const Command& command) const;

    std::vector<Name> names_;
    std::vector<std::vector<std::string>> words_;  // all places; the first is names_ again
    std::vector<Sub> subs_;                        // options of the alternatives at place 1
};

/// One bit per command of the line that some pattern covers. A line is allowed when every command
/// is covered, by whichever rules; never when the reading is opaque.
std::uint32_t covered_commands(const Reading& reading, std::span<const AllowPattern> patterns);

/// The bits of all commands; 0 when opaque, so `covered == all_commands` needs `all != 0` as well.
std::uint32_t all_commands(const Reading& reading);

/// Whether `patterns` alone cover the whole line.
bool is_covered(const Reading& reading, std::span<const AllowPattern> patterns);

/// Of the first command that is not covered, the gap that came nearest to being covered; for
/// explanations. `command` is its index.
struct Uncovered {
    std::size_t command = 0;
    Cover cover = {};
};
Uncovered first_uncovered(const Reading& reading, std::span<const AllowPattern> patterns);

}  // namespace holdpoint::policy::shell
