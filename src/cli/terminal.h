#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

/// Talking to the person at the terminal, apart from the full-screen inbox.
namespace holdpoint::cli {

/// Whether somebody can be asked: stdin is a terminal, and the question can be seen there. Where
/// stderr goes into a file it is asked on the terminal itself, so that `2>error.json` asks as well.
bool may_prompt();

/// Whether whoever sits at the terminal reads what is said on stderr.
bool shows_messages();

/// Prints `question` where it is seen and reads one line from the terminal. What was typed or
/// pasted before the question stood there is thrown away: nobody can have answered it. Nothing on
/// end of input.
std::optional<std::string> ask_line(std::string_view question);

/// One line from stdin; nothing at its end.
std::optional<std::string> read_stdin_line();

/// Asks until y or n; end of input is no.
bool ask_yes(std::string_view question);

/// Reads a line without echo. Signals restore the echo before they end the process.
Result<std::string> ask_secret(std::string_view question);

/// One line from stdin, for `--password-stdin`.
Result<std::string> read_secret_line();

/// A whole file, or stdin for `-`. Refuses what is larger than `mib_max` MiB.
Result<std::string> read_input(const std::string& path, std::size_t mib_max = 1);

/// While one of these lives, Ctrl-C and SIGTERM make `fd` readable instead of ending the process.
class Interrupt {
  public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    int fd() const;
    static bool was_raised();
};

}  // namespace holdpoint::cli
