#pragma once

#include <string_view>

/// How programs read their words, as far as it matters for saying that two command lines are the
/// same. Taken from the manuals.
namespace holdpoint::agent::feedback {

enum class WordOrder {
    free,   ///< options may stand anywhere, in any order; which take a value is known
    fixed,  ///< order means something: `find`, `echo`, programs that run other programs
};

enum class Operands {
    paths,        ///< files, in an order that counts: `mv a b`
    path_set,     ///< files, in any order: `rm a b`
    words,        ///< not files: branches, packages, hosts
    word_set,     ///< the same in any order
    after_first,  ///< a mode, owner or pattern first, then files in any order
};

/// All lists are words with blanks between them.
struct OptionForm {
    std::string_view program;
    std::string_view subcommand;  ///< empty: the program itself, or all its subcommands
    WordOrder order = WordOrder::free;
    Operands operands = Operands::words;
    std::string_view valued_shorts = {};  ///< letters
    std::string_view valued_longs = {};   ///< without dashes; `--name=value` needs no entry
    /// `recursive=r R=r`: other spellings of one option.
    std::string_view synonyms = {};
    /// Options whose repeated values may change places, as `H` of curl.
    std::string_view unordered = {};
};

/// Whether `word` is one of `words`, which have blanks between them.
bool lists(std::string_view words, std::string_view word);

/// The facts, or nullptr where there are none. A subcommand without an entry of its own finds that
/// of its program only where this holds for all of them.
const OptionForm* find_options(std::string_view program, std::string_view subcommand);

/// Whether the first word behind the program's own options is a subcommand. `find_options(program,
/// "")` then tells those options.
bool has_subcommands(std::string_view program);

/// Whether words of this program are text and never paths, like those of `echo`.
bool takes_text(std::string_view program);

}  // namespace holdpoint::agent::feedback
