#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// The proving reading of a shell command: what may be let through is only what is certainly a
/// list of literal words. It is a filter, not a sandbox: it says which words will run, never what
/// the programs do with them, nor what aliases, functions or a changed PATH make of a name.
namespace holdpoint::policy::shell {

/// Only these two are read; zsh, PowerShell and all others are always opaque.
enum class Dialect { bash, sh, other };

/// `bash` and `sh` by name, anything else is other.
Dialect dialect_of(std::string_view name);

/// Why a command could not be proved. Nothing else than `none` may ever be allowed by a rule, a
/// grant or trust.
enum class Opacity : std::uint8_t {
    none,
    unread,             ///< nothing was read yet
    dialect,            ///< neither bash nor sh
    too_long,           ///< more than text_bytes_max
    too_many_commands,  ///< more than commands_max
    too_many_words,     ///< more than words_max in one command
    empty,              ///< no command at all
    missing_command,    ///< an operator with nothing on one side
    unclosed_quote,
    odd_character,  ///< control, direction, zero-width and the like, or not UTF-8
    non_ascii,      ///< a letter outside quotes that no ASCII keyboard has
    escape,         ///< a backslash
    expansion,      ///< `$`
    substitution,   ///< a backtick
    history,        ///< `!` or `^`
    glob,           ///< `* ? [ ]`
    tilde,
    brace,
    comment,
    redirection,  ///< also heredocs and process substitution
    subshell,     ///< `(` or `)`: also functions, patterns of case, arrays
    background,   ///< `&` alone, also `|&`
    assignment,   ///< a first word with `=`
    reserved_word,
    job,           ///< a first word with `%`
    empty_program  ///< a first word without letters
};

/// For people, without the command's own text: `a redirection`.
std::string_view to_string(Opacity opacity);

enum class Operator : std::uint8_t { end, sequence, and_then, or_else, pipe };

class Reading;

/// Reads `text` into `reading`, replacing what it held. Linear; keeps no reference to `text`.
void prove(std::string_view text, Dialect dialect, Reading& reading);

/// The words of one simple command; a view into its Reading.
class Command {
  public:
    Command(const Reading& reading, std::size_t index) : reading_(&reading), index_(index) {}

    std::size_t size() const;
    std::string_view operator[](std::size_t word) const;
    std::string_view program() const { return (*this)[0]; }
    /// What stands between this command and the next; a newline is a sequence.
    Operator followed_by() const;

  private:
    const Reading* reading_;
    std::size_t index_;
};

/// Either opaque with a reason and its place, or a list of commands whose words are exactly what
/// the shell will pass on. Owns its text in inline storage (about 12 KiB, no heap) and may be used
/// again for the next command.
class Reading {
  public:
    static constexpr std::size_t text_bytes_max = 4096;
    static constexpr std::size_t commands_max = 16;
    static constexpr std::size_t words_max = 128;  ///< of one command

    // The arrays stay uninitialised on purpose: clearing them costs more than reading a command.
    Reading() {}  // NOLINT(modernize-use-equals-default)

    bool is_opaque() const { return opacity_ != Opacity::none; }
    Opacity opacity() const { return opacity_; }
    std::size_t position() const { return position_; }  ///< of what is opaque, in bytes

    /// The number of commands; 0 when opaque.
    std::size_t size() const { return commands_count_; }
    Command operator[](std::size_t index) const { return {*this, index}; }

  private:
    friend class Command;
    friend class Prover;
    friend void prove(std::string_view text, Dialect dialect, Reading& reading);

    struct Word {
        std::uint16_t offset;
        std::uint16_t length;
    };
    struct Words {
        std::uint16_t first;
        std::uint16_t count;
        Operator followed_by;
    };

    Opacity opacity_ = Opacity::unread;
    std::uint32_t position_ = 0;
    std::uint32_t commands_count_ = 0;
    std::uint32_t words_count_ = 0;
    Words commands_[commands_max];
    Word words_[text_bytes_max / 2 + 1];
    char text_[text_bytes_max];
};

}  // namespace holdpoint::policy::shell
