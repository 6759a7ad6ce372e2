#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/text.h"
#include "policy/match/characters.h"
#include "policy/shell/cover.h"
#include "policy/shell/search.h"

namespace shell = holdpoint::policy::shell;

namespace {

/// What stands outside quotes in a text whose quotes are balanced and whose double quotes hold
/// nothing special; written without the tables of the reading itself.
std::string outside_quotes(std::string_view text) {
    std::string outside;
    char quote = 0;
    for (const char c : text) {
        if (quote != 0) {
            if (c == quote) quote = 0;
            HOLDPOINT_ASSERT(quote != '"' || !std::string_view("$`\\!").contains(c));
        } else if (c == '\'' || c == '"') {
            quote = c;
            outside += 'q';
        } else {
            outside += c;
        }
    }
    HOLDPOINT_ASSERT(quote == 0);
    return outside;
}

void check_accepted(std::string_view text, const shell::Reading& reading) {
    HOLDPOINT_ASSERT(text.size() <= shell::Reading::text_bytes_max);
    HOLDPOINT_ASSERT(reading.size() >= 1 && reading.size() <= shell::Reading::commands_max);
    HOLDPOINT_ASSERT(holdpoint::is_utf8(text));
    const std::string outside = outside_quotes(text);
    HOLDPOINT_ASSERT(outside.find_first_of("$`\\*?[]~{}()<>#!^\r") == std::string::npos);
    for (const char c : outside) {
        const bool is_plain = c == '\n' || c == '\t' || (c >= 0x20 && c < 0x7F);
        HOLDPOINT_ASSERT(is_plain);
    }
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < reading.size(); ++i) {
        HOLDPOINT_ASSERT(!reading[i].program().empty() && !reading[i].program().contains('='));
        for (std::size_t j = 0; j < reading[i].size(); ++j) {
            const std::string_view word = reading[i][j];
            bytes += word.size();
            const auto odd = holdpoint::policy::match::find_odd_character(word);
            HOLDPOINT_ASSERT(!odd || odd->value == '\n' || odd->value == '\t');
        }
    }
    HOLDPOINT_ASSERT(bytes <= text.size());
}

shell::SearchPattern search_pattern(shell::CommandPattern pattern) {
    return *shell::SearchPattern::compile(std::move(pattern));
}

/// Whatever the proving reading sees as a program, the searching one must find.
void check_found(const shell::Reading& reading, const shell::Search& search) {
    for (std::size_t i = 0; i < reading.size(); ++i) {
        const std::string program(reading[i].program());
        const std::string name = program.substr(program.rfind('/') + 1);
        if (name.empty()) continue;
        HOLDPOINT_ASSERT(search.finds(search_pattern({{{name}}})));
    }
}

}  // namespace

/// An accepted command has nothing unquoted that a shell would expand, never crashes the coverage,
/// and is found by the searching reading too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    static const auto reading = std::make_unique<shell::Reading>();
    static shell::Search search;
    static const shell::AllowPattern git =
        *shell::AllowPattern::compile({{{"git"}, {"log", "grep"}}});
    static const shell::AllowPattern sort =
        *shell::AllowPattern::compile({{{"sort", "find", "curl"}}});
    static const shell::SearchPattern rm = search_pattern({{{"rm"}}, {"-rf"}});

    shell::prove(text, shell::Dialect::bash, *reading);
    search.read(text);
    search.finds(rm);
    if (reading->is_opaque()) {
        HOLDPOINT_ASSERT(reading->size() == 0 && reading->position() <= text.size());
        HOLDPOINT_ASSERT(shell::all_commands(*reading) == 0);
        return 0;
    }
    check_accepted(text, *reading);
    check_found(*reading, search);
    for (std::size_t i = 0; i < reading->size(); ++i) {
        git.cover((*reading)[i]);
        sort.cover((*reading)[i]);
    }
    return 0;
}
