#pragma once

#include <cstdint>
#include <string_view>

/// What we know about programs: which of them a prefix can never cover, and which of their options
/// run commands or write files. Taken from the manuals; a program that is not here is taken for
/// what its name says, so whoever puts one on an allow list reads its manual first.
namespace holdpoint::policy::shell {

enum class ProgramKind : std::uint8_t {
    plain,
    builtin,      ///< changes the state of the shell, or evaluates its arguments: never covered
    wrapper,      ///< runs the command in its arguments: never covered
    interpreter,  ///< runs the text or file in its arguments: never covered
    writer        ///< writes where its plain arguments say: covered only word by word
};

/// Options that make a harmless program dangerous. All lists are words with blanks between them.
struct UnsafeOptions {
    /// Letters of short options. They count wherever they stand in a cluster: `-uo`, `-ofile`.
    std::string_view shorts = {};
    /// Short options whose value may follow in the same word: what comes behind is no option.
    std::string_view valued_shorts = {};
    /// Long options with their dashes. Abbreviations and `--name=value` count too.
    std::string_view longs = {};
    /// Names of options that are spelt out behind one or two dashes: `-exec`, `--exec`, `-out=x`.
    std::string_view flags = {};
    /// Words that are unsafe as a part of any argument, like a transport `ext::`.
    std::string_view parts = {};
    /// More arguments than this without a dash in front are unsafe; negative is no limit.
    int operands_max = -1;
    /// `NAME=value` overrides what runs, as for make.
    bool refuses_assignments = false;
    /// The first argument is a cluster of short options even without a dash, as for tar.
    bool bundles_first = false;
};

struct Program {
    std::string_view name;
    ProgramKind kind = ProgramKind::plain;
    bool has_subcommands = false;             ///< a pattern must name one
    std::string_view never_subcommands = {};  ///< these run or write what their arguments
                                              ///< say: covered only word by word
    UnsafeOptions unsafe = {};
};

/// A subcommand with options of its own, besides those of its program.
struct Subcommand {
    std::string_view program;
    std::string_view name;
    UnsafeOptions unsafe = {};
};

/// The facts for a program's base name, also for names with a version behind, like `python3.11`;
/// nullptr where there are none.
const Program* find_program(std::string_view name);
const Subcommand* find_subcommand(std::string_view program, std::string_view name);

}  // namespace holdpoint::policy::shell
