#include <algorithm>
#include <array>
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

bool is_plain(unsigned char c) { return c >= 0x20 && c != '"' && c != '\\' && c < 0x80; }

/// Whether none of eight bytes is a control character, `"`, `\` or beyond ASCII.
bool are_plain(const char* at) {
    constexpr std::uint64_t ones = 0x0101010101010101ULL;
    constexpr std::uint64_t highs = 0x8080808080808080ULL;
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    const std::uint64_t quote = word ^ (ones * '"');
    const std::uint64_t backslash = word ^ (ones * '\\');
    const std::uint64_t found = (word - ones * 0x20) | (quote - ones) | (backslash - ones) | word;
    return (found & highs) == 0;
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
        for (const Member& member : object) members_.push_back(&member);
        std::ranges::sort(members_.begin() + static_cast<std::ptrdiff_t>(begin), members_.end(),
                          utf16_less, key_of);
        out_ += '{';
        // Inner objects push and pop behind `end`, which may move the vector: no iterators here.
        const std::size_t end = members_.size();
        for (std::size_t i = begin; i < end; ++i) {
            if (i > begin) out_ += ',';
            append_quoted(out_, key_of(members_[i]));
            out_ += ':';
            write(members_[i]->value());
        }
        out_ += '}';
        members_.resize(begin);
    }

    // Shared by all writers of a thread; each leaves it as long as it found it.
    static thread_local std::vector<const Member*> members_;
    std::string& out_;
};

thread_local std::vector<const Member*> Writer::members_;

}  // namespace

void append_quoted(std::string& out, std::string_view utf8) {
    out += '"';
    std::size_t at = 0;
    std::size_t copied = 0;  // everything before is in `out`
    while (at < utf8.size()) {
        if (utf8.size() - at >= 8 && are_plain(utf8.data() + at)) {
            at += 8;
            continue;
        }
        const auto c = static_cast<unsigned char>(utf8[at]);
        if (is_plain(c)) {
            ++at;
            continue;
        }
        const int bytes = c < 0x80 ? 0 : first_code_point(utf8.substr(at)).bytes;
        if (bytes > 0) {
            at += static_cast<std::size_t>(bytes);
            continue;
        }
        out.append(utf8.substr(copied, at - copied));
        if (c < 0x80) {
            append_escape(out, c);
        } else {
            out += "\uFFFD";
        }
        copied = ++at;
    }
    out.append(utf8.substr(copied));
    out += '"';
}

void append_canonical(std::string& out, const value& value) { Writer(out).write(value); }

std::string canonical(const value& value) {
    std::string result;
    append_canonical(result, value);
    return result;
}

}  // namespace holdpoint::json
