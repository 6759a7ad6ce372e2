#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/feedback/shell_words.h"
#include "policy/match/path.h"

namespace holdpoint::agent::feedback {

/// The words of a program that we know nothing about. Which of its options take a value shows, if
/// at all, only beside another spelling of the same call.
struct LooseWords {
    struct Word {
        std::string text;
        bool is_option = false;
        bool is_bound = false;  ///< of an option: the next word was written into it with `=`

        bool operator==(const Word&) const = default;
    };
    std::vector<Word> words;
};

/// A command line in one spelling. Two lines are the same when the texts are equal and the loose
/// words agree, in their order.
struct CommandForm {
    std::string text;
    std::vector<LooseWords> loose;
};

/// What `text` runs: order and spelling of options, quoting, blanks, comments, the folder of a
/// standard program, wrappers that change nothing (`env`, `command`, `nohup`, `bash -c`) do not
/// count. Nothing where the text cannot be taken apart. `further` are words that follow as they
/// are, as from an array of arguments.
std::optional<CommandForm> command_form(std::string_view text,
                                        const std::vector<std::string>& further,
                                        const policy::match::PathContext& context);

/// A command given word by word, without a shell.
CommandForm command_form(const std::vector<std::string>& words,
                         const policy::match::PathContext& context);

/// Whether two calls of one program can only mean the same: options without a value change places
/// freely, options followed by the same word in both take it along, and what is left stands in the
/// same order. `words` of both must be the same up to their order.
bool is_same(const LooseWords& a, const LooseWords& b);

}  // namespace holdpoint::agent::feedback
