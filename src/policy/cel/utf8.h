#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Strings by code points. The text is UTF-8 already: all strings that reach CEL were checked.
namespace holdpoint::cel {

inline bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

inline std::size_t count_code_points(std::string_view text) {
    std::size_t count = 0;
    for (const char c : text) count += is_continuation(c) ? 0 : 1;
    return count;
}

/// Where the code point with this number begins; text.size() for the one after the last, npos
/// beyond.
inline std::size_t offset_of(std::string_view text, std::size_t number) {
    std::size_t offset = 0;
    for (; number > 0; --number) {
        if (offset == text.size()) return std::string_view::npos;
        ++offset;
        while (offset < text.size() && is_continuation(text[offset])) ++offset;
    }
    return offset;
}

inline void append_utf8(std::string& text, std::uint32_t code) {
    if (code < 0x80) {
        text += static_cast<char>(code);
        return;
    }
    if (code < 0x800) {
        text += static_cast<char>(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            text += static_cast<char>(0xe0 | code >> 12);
        } else {
            text += static_cast<char>(0xf0 | code >> 18);
            text += static_cast<char>(0x80 | (code >> 12 & 0x3f));
        }
        text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    }
    text += static_cast<char>(0x80 | (code & 0x3f));
}

}  // namespace holdpoint::cel
