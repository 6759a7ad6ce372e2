#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/json.h"
#include "base/text.h"

namespace holdpoint::json {
namespace {

using Member = boost::json::key_value_pair;

constexpr std::uint64_t high_bits = 0x8080808080808080ULL;
static_assert(std::endian::native == std::endian::little);

/// UTF-8 sorts by code point; UTF-16 puts the pairs of U+10000 and above before U+E000 to U+FFFF.
/// Only the first differing bytes can tell, and only where one is 0xEE or 0xEF and the other is
/// 0xF0 or more: all of them lead bytes.
bool utf16_less(std::string_view left, std::string_view right) {
    const std::size_t common = std::min(left.size(), right.size());
    const auto [l, r] = std::mismatch(left.begin(), left.begin() + common, right.begin());
    if (l == left.begin() + common) return left.size() < right.size();
    const auto a = static_cast<unsigned char>(*l);
    const auto b = static_cast<unsigned char>(*r);
    const bool planes_differ = a >= 0xEE && b >= 0xEE && (a >= 0xF0) != (b >= 0xF0);
    return planes_differ ? a > b : a < b;
}

std::string_view key_of(const Member* member) {
    return {member->key().data(), member->key().size()};
}

/// A member and the first eight bytes of its key as one number that sorts as the key does: nearly
/// all comparisons end there.
struct Sorted {
    std::uint64_t prefix;
    const Member* member;

    bool operator<(const Sorted& other) const {
        if (prefix != other.prefix) return prefix < other.prefix;
        return utf16_less(key_of(member), key_of(other.member));
    }
};

/// Byte by byte, since the prefix of a key with such characters is rare.
std::uint64_t in_utf16_order(std::uint64_t prefix) {
    std::uint64_t result = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        std::uint64_t byte = (prefix >> shift) & 0xFF;
        if (byte >= 0xF0) {
            byte -= 2;
        } else if (byte >= 0xEE) {
            byte += 0x10;
        }
        result = result << 8 | byte;
    }
    return result;
}

std::uint64_t prefix_of(std::string_view key) {
    std::uint64_t prefix = 0;
    if (key.size() >= sizeof prefix) {
        std::memcpy(&prefix, key.data(), sizeof prefix);
        prefix = std::byteswap(prefix);
    } else if (!key.empty()) {
        for (const char c : key) prefix = prefix << 8 | static_cast<unsigned char>(c);
        prefix <<= 8 * (sizeof prefix - key.size());
    }
    return (prefix & high_bits) == 0 ? prefix : in_utf16_order(prefix);
}

bool is_plain(char c) { return c >= 0x20 && c != '"' && c != '\\'; }  // beyond ASCII is negative

/// Whether none of eight bytes is a control character, `"`, `\` or beyond ASCII.
bool are_plain(const char* at) {
    constexpr std::uint64_t ones = 0x0101010101010101ULL;
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    const std::uint64_t quote = word ^ (ones * '"');
    const std::uint64_t backslash = word ^ (ones * '\\');
    const std::uint64_t found = (word - ones * 0x20) | (quote - ones) | (backslash - ones) | word;
    return (found & high_bits) == 0;
}

void append_escape(std::string& out, unsigned char c) {
    constexpr std::string_view hex = "0123456789abcdef";
    switch (c) {
        case '"':
            out += "\\\"";
            return;
        case '\\':
            out += "\\\\";
            return;
        case '\b':
            out += "\\b";
            return;
        case '\t':
            out += "\\t";
            return;
        case '\n':
            out += "\\n";
            return;
        case '\f':
            out += "\\f";
            return;
        case '\r':
            out += "\\r";
            return;
        default:
            out += "\\u00";
            out += hex[c >> 4];
            out += hex[c & 15];
    }
}

bool is_plain(std::string_view text) {
    if (text.size() < 8) {
        return std::ranges::all_of(text, [](char c) { return is_plain(c); });
    }
    const char* const last = text.data() + text.size() - 8;
    for (const char* at = text.data(); at < last; at += 8) {
        if (!are_plain(at)) return false;
    }
    return are_plain(last);  // overlaps what was looked at already
}

void append_with_escapes(std::string& out, std::string_view utf8) {
    out += '"';
    std::size_t copied = 0;  // everything before is in `out`
    for (std::size_t at = 0; at < utf8.size();) {
        if (utf8.size() - at >= 8 && are_plain(utf8.data() + at)) {
            at += 8;
            continue;
        }
        const CodePoint point = first_code_point(utf8.substr(at));
        if (point.bytes > 1 || is_plain(utf8[at])) {
            at += static_cast<std::size_t>(point.bytes);
            continue;
        }
        out.append(utf8.substr(copied, at - copied));
        if (point.bytes == 0) {
            out += "\uFFFD";
        } else {
            append_escape(out, static_cast<unsigned char>(utf8[at]));
        }
        copied = ++at;
    }
    out.append(utf8.substr(copied));
    out += '"';
}

void append_integer(std::string& out, std::int64_t integer) {
    HOLDPOINT_ASSERT(integer <= integer_max && integer >= -integer_max);
    std::array<char, 20> text;
    const auto written = std::to_chars(text.data(), text.data() + text.size(), integer);
    out.append(text.data(), written.ptr);
}

class Writer {
  public:
    explicit Writer(std::string& out) : out_(out) {}

    void write(const value& value) {
        switch (value.kind()) {
            case boost::json::kind::null:
                out_ += "null";
                return;
            case boost::json::kind::bool_:
                out_ += value.get_bool() ? "true" : "false";
                return;
            case boost::json::kind::int64:
                return append_integer(out_, value.get_int64());
            case boost::json::kind::uint64:
                HOLDPOINT_ASSERT(value.get_uint64() <= std::uint64_t{integer_max});
                return append_integer(out_, static_cast<std::int64_t>(value.get_uint64()));
            case boost::json::kind::double_:
                return append_number(out_, value.get_double());
            case boost::json::kind::string:
                return append_quoted(out_, value.get_string());
            case boost::json::kind::array:
                return write(value.get_array());
            case boost::json::kind::object:
                return write(value.get_object());
        }
    }

  private:
    void write(const array& array) {
        out_ += '[';
        bool is_first = true;
        for (const value& element : array) {
            if (!std::exchange(is_first, false)) out_ += ',';
            write(element);
        }
        out_ += ']';
    }

    void write(const object& object) {
        const std::size_t begin = members_.size();
        for (const Member& member : object) {
            members_.push_back({prefix_of(member.key()), &member});
        }
        std::sort(members_.begin() + static_cast<std::ptrdiff_t>(begin), members_.end());
        out_ += '{';
        // Inner objects push and pop behind `end`, which may move the vector: no iterators here.
        const std::size_t end = members_.size();
        for (std::size_t i = begin; i < end; ++i) {
            if (i > begin) out_ += ',';
            const Member& member = *members_[i].member;
            append_quoted(out_, member.key());
            out_ += ':';
            write(member.value());
        }
        out_ += '}';
        members_.resize(begin);
    }

    // Shared by all writers of a thread; each leaves it as long as it found it.
    static thread_local std::vector<Sorted> members_;
    std::string& out_;
};

thread_local std::vector<Sorted> Writer::members_;

}  // namespace

void append_quoted(std::string& out, std::string_view utf8) {
    if (!is_plain(utf8)) return append_with_escapes(out, utf8);
    const std::size_t begin = out.size();
    const std::size_t end = begin + utf8.size() + 2;
    // libstdc++ 12 tells the operation the capacity in place of the size asked for.
    out.resize_and_overwrite(end, [&](char* text, std::size_t) {
        text[begin] = '"';
        std::copy(utf8.begin(), utf8.end(), text + begin + 1);
        text[end - 1] = '"';
        return end;
    });
}

std::string quoted(std::string_view utf8) {
    std::string out;
    append_quoted(out, utf8);
    return out;
}

void append_canonical(std::string& out, const value& value) { Writer(out).write(value); }

std::string canonical(const value& value) {
    std::string result;
    append_canonical(result, value);
    return result;
}

}  // namespace holdpoint::json
