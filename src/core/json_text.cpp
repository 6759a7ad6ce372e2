#include "core/json_text.h"

#include "base/assert.h"

namespace holdpoint::core {
namespace {

/// Position just behind the string literal that starts at `at`. Looks for the quote that ends it,
/// since texts are long and escapes are rare.
std::size_t skip_string(std::string_view text, std::size_t at) {
    const std::size_t begin = at + 1;
    std::size_t quote = text.find('"', begin);
    while (quote != std::string_view::npos) {
        std::size_t backslashes = 0;
        while (quote - backslashes > begin && text[quote - backslashes - 1] == '\\') ++backslashes;
        // In pairs they stand for themselves; one that is left over escapes the quote.
        if (backslashes % 2 == 0) return quote + 1;
        quote = text.find('"', quote + 1);
    }
    return text.size();
}

/// Position just behind the value that starts at `at`. Canonical text has no white space.
std::size_t skip_value(std::string_view text, std::size_t at) {
    int depth = 0;
    while (at < text.size()) {
        const char c = text[at];
        if (c == '"') {
            at = skip_string(text, at);
            if (depth == 0) return at;
            continue;
        }
        if (c == '{' || c == '[') {
            ++depth;
        } else if (c == '}' || c == ']') {
            if (depth == 0) return at;  // the end of the object around a number or word
            if (--depth == 0) return at + 1;
        } else if (c == ',' && depth == 0) {
            return at;
        }
        ++at;
    }
    return at;
}

}  // namespace

void find_members(std::string_view canonical_object, std::span<NamedText> members) {
    std::size_t missing = members.size();
    std::size_t at = 1;
    while (missing > 0 && at < canonical_object.size() && canonical_object[at] == '"') {
        const std::size_t name_end = skip_string(canonical_object, at);
        const std::string_view name = canonical_object.substr(at + 1, name_end - at - 2);
        const std::size_t value = name_end + 1;
        const std::size_t end = skip_value(canonical_object, value);
        for (NamedText& member : members) {
            if (member.name != name) continue;
            member.text = canonical_object.substr(value, end - value);
            --missing;
        }
        at = end + 1;
    }
}

std::string_view member_text(std::string_view canonical_object, std::string_view name) {
    NamedText member{name};
    find_members(canonical_object, {&member, 1});
    return member.text;
}

JsonText with_member(const JsonText& object, std::string_view name, std::string_view value) {
    const std::string_view old = member_text(object.text, name);
    HOLDPOINT_ASSERT(!old.empty());
    const std::size_t at = static_cast<std::size_t>(old.data() - object.text.data());
    JsonText changed;
    changed.text.reserve(object.text.size() - old.size() + value.size());
    changed.text.append(object.text, 0, at);
    changed.text.append(value);
    changed.text.append(object.text, at + old.size());
    return changed;
}

}  // namespace holdpoint::core
