#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/git/message.h"
#include "base/assert.h"
#include "base/text.h"

namespace git = holdpoint::agent::git;

/// Whatever a tool is called and a person writes: one subject, indented text, and the trailers that
/// we wrote, in this order.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    git::Entry entry;
    entry.label = "Approval";
    entry.text = "Rejected: " + text;
    entry.paragraphs = {text, "Reason: " + text};
    entry.trailers = {{"Holdpoint-Request", "r" + text}, {"Rejected-By", "b" + text}};
    const std::string message = git::commit_message(entry, false, 3);
    HOLDPOINT_ASSERT(holdpoint::is_utf8(message));

    std::string_view rest = message;
    const std::string_view subject = rest.substr(0, rest.find('\n'));
    HOLDPOINT_ASSERT(subject.starts_with("[Approval] Rejected: ") && subject.size() <= 72);
    rest.remove_prefix(subject.size() + 1);
    int trailers = 0;
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(line.size() + 1);
        for (const char c : line) {
            HOLDPOINT_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
        }
        if (line.empty() || line.starts_with("    ")) {
            HOLDPOINT_ASSERT(trailers == 0);
            continue;
        }
        constexpr std::string_view expected[] = {"Holdpoint-Request: r", "Rejected-By: b",
                                                 "Holdpoint-Missed: 3"};
        HOLDPOINT_ASSERT(trailers < 3 && line.starts_with(expected[trailers]));
        ++trailers;
    }
    HOLDPOINT_ASSERT(trailers == 3);
    return 0;
}
