#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "agent/feedback/command_form.h"
#include "agent/feedback/sameness.h"
#include "agent/feedback/shell_words.h"
#include "base/assert.h"
#include "base/text.h"
#include "policy/shell/reading.h"

namespace feedback = holdpoint::agent::feedback;
namespace shell = holdpoint::policy::shell;
namespace json = holdpoint::json;

namespace {

bool is_ascii(std::string_view text) {
    for (const char c : text) {
        if (static_cast<unsigned char>(c) >= 0x80) return false;
    }
    return true;
}

std::string quoted(std::string_view word) {
    std::string out = "'";
    for (const char c : word) {
        if (c == '\'') {
            out += "'\\''";
        } else {
            out += c;
        }
    }
    return out + "'";
}

std::string_view operator_text(shell::Operator how) {
    switch (how) {
        case shell::Operator::end:
            return "";
        case shell::Operator::sequence:
            return ";";
        case shell::Operator::and_then:
            return "&&";
        case shell::Operator::or_else:
            return "||";
        case shell::Operator::pipe:
            return "|";
    }
    return "";
}

json::value call_of(std::string_view command) {
    json::object arguments;
    arguments["command"] = command;
    return arguments;
}

/// The same commands with every word in quotes.
std::string requoted(const shell::Reading& reading) {
    std::string text;
    for (std::size_t i = 0; i < reading.size(); ++i) {
        for (std::size_t word = 0; word < reading[i].size(); ++word) {
            text += quoted(reading[i][word]) + "  ";
        }
        text += operator_text(reading[i].followed_by());
    }
    return text;
}

/// Both readers see the same words, and quoting them all changes nothing.
void check_proved(std::string_view text, const shell::Reading& reading) {
    const auto commands = feedback::read_shell(text);
    HOLDPOINT_ASSERT(commands && commands->size() == reading.size());
    for (std::size_t i = 0; i < reading.size(); ++i) {
        const feedback::SimpleCommand& command = (*commands)[i];
        HOLDPOINT_ASSERT(command.words.size() == reading[i].size());
        for (std::size_t word = 0; word < command.words.size(); ++word) {
            HOLDPOINT_ASSERT(command.words[word] == reading[i][word]);
        }
    }
    const feedback::Likeness plain = feedback::likeness_of("bash", call_of(text));
    const feedback::Likeness other = feedback::likeness_of("bash", call_of(requoted(reading)));
    HOLDPOINT_ASSERT(feedback::is_same(plain, other));
}

}  // namespace

/// Any text is read without a crash; a likeness is like itself; plain commands are read exactly as
/// the proving reading of policy reads them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    static const auto reading = std::make_unique<shell::Reading>();
    feedback::read_shell(text);
    if (!holdpoint::is_utf8(text)) return 0;
    if (const auto arguments = json::parse(text)) {
        const feedback::Likeness one = feedback::likeness_of("tool", *arguments);
        HOLDPOINT_ASSERT(feedback::is_same(one, feedback::likeness_of("tool", *arguments)));
        HOLDPOINT_ASSERT(!feedback::is_same(one, feedback::likeness_of("other", *arguments)));
    }
    shell::prove(text, shell::Dialect::bash, *reading);
    if (!reading->is_opaque() && is_ascii(text)) {
        check_proved(text, *reading);
    } else {
        feedback::likeness_of("bash", call_of(text));
    }
    return 0;
}
