#include "base/json.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/error.hpp>
#include <boost/json/value_stack.hpp>

#include "base/assert.h"
#include "base/json_number.h"
#include "base/text.h"

namespace holdpoint::json {
namespace {

using boost::json::error_code;
using boost::json::string_view;

constexpr int depth_ceiling = 256;  // the parser recurses once per level
constexpr std::size_t shown_bytes_max = 64;
constexpr std::size_t kept_bytes_max = 1024 * 1024;

std::string shown(std::string_view text) { return quotable(text, shown_bytes_max); }

/// Tells keys apart quickly. Seeded, so that nobody can choose keys whose tags collide.
class Tagger {
  public:
    Tagger() {
        std::random_device device;
        seed_ = (std::uint64_t{device()} << 32) | device();
    }

    std::uint32_t tag(std::string_view key) const {
        const char* at = key.data();
        std::size_t left = key.size();
        std::uint64_t hash = seed_ ^ left;
        for (; left > 16; at += 8, left -= 8) hash = mix(hash, word(at));
        // The last words overlap, which is cheaper than copying a part of one.
        if (left >= 8) {
            hash = mix(mix(hash, word(at)), word(at + left - 8));
        } else if (left >= 4) {
            hash = mix(hash, std::uint64_t{half(at)} << 32 | half(at + left - 4));
        } else if (left > 0) {
            hash = mix(hash, byte(at[0]) << 16 | byte(at[left / 2]) << 8 | byte(at[left - 1]));
        }
        return static_cast<std::uint32_t>(hash >> 32);
    }

  private:
    static std::uint64_t byte(char c) { return static_cast<unsigned char>(c); }
    static std::uint64_t word(const char* at) {
        std::uint64_t result;
        std::memcpy(&result, at, sizeof result);
        return result;
    }
    static std::uint32_t half(const char* at) {
        std::uint32_t result;
        std::memcpy(&result, at, sizeof result);
        return result;
    }
    std::uint64_t mix(std::uint64_t hash, std::uint64_t word) const {
        const auto product = static_cast<unsigned __int128>(hash ^ word) * 0x9E3779B97F4A7C15ULL;
        return (static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64)) +
               seed_;
    }

    std::uint64_t seed_;
};

/// The keys of all objects that are open, the innermost last. Keys point into the parsed text or,
/// if they had escapes, into a buffer that is never longer than that text.
class KeyStack {
  public:
    void start(std::size_t text_bytes) {
        clear();
        // Reserved once per text: a key that moved would leave a dangling view behind.
        if (unescaped_.capacity() < text_bytes) unescaped_.reserve(text_bytes);
    }

    void clear() {
        keys_.clear();
        tags_.clear();
        unescaped_.clear();
        part_begin_ = 0;
    }

    void release_memory() { *this = KeyStack(); }

    std::size_t size() const { return keys_.size(); }
    std::string_view key(std::size_t index) const { return keys_[index]; }
    void pop_to(std::size_t size) {
        keys_.resize(size);
        tags_.resize(size);
    }

    void add_part(std::string_view part) { unescaped_.append(part); }
    std::string_view finish(std::string_view last, bool lasts) {
        if (lasts && unescaped_.size() == part_begin_) return last;
        unescaped_.append(last);
        const auto whole = std::string_view(unescaped_).substr(part_begin_);
        part_begin_ = unescaped_.size();
        return whole;
    }

    /// False if `key` is among those from `begin` on.
    bool push(std::string_view key, std::size_t begin) {
        const std::uint32_t tag = tagger_.tag(key);
        if (may_contain(tag, begin) && contains(key, begin)) return false;
        keys_.push_back(key);
        tags_.push_back(tag);
        return true;
    }

  private:
    bool may_contain(std::uint32_t tag, std::size_t begin) const {
        const std::span<const std::uint32_t> tags(tags_.data() + begin, tags_.size() - begin);
        if (tags.size() < 16) return std::ranges::find(tags, tag) != tags.end();
        // No early exit: so the compiler compares many at a time, which no hash set beats here.
        std::uint32_t matches = 0;
        for (const std::uint32_t each : tags) matches += each == tag;
        return matches > 0;
    }

    bool contains(std::string_view key, std::size_t begin) const {
        return std::find(keys_.begin() + static_cast<std::ptrdiff_t>(begin), keys_.end(), key) !=
               keys_.end();
    }

    Tagger tagger_;
    std::vector<std::string_view> keys_;
    std::vector<std::uint32_t> tags_;  // beside keys_
    std::string unescaped_;
    std::size_t part_begin_ = 0;
};

/// Builds the value and refuses what RFC 7493 and the limits forbid. Every check stands before the
/// push that would allocate.
class Handler {
  public:
    static constexpr std::size_t max_object_size = boost::json::object::max_size();
    static constexpr std::size_t max_array_size = boost::json::array::max_size();
    static constexpr std::size_t max_key_size = boost::json::string::max_size();
    static constexpr std::size_t max_string_size = boost::json::string::max_size();

    void start(std::string_view text, const Limits& limits, boost::json::storage_ptr storage) {
        text_ = text;
        limits_ = limits;
        nodes_ = 0;
        fault_ = {};
        frames_.clear();
        keys_.start(text.size());
        stack_.reset(std::move(storage));
    }

    value take() { return stack_.release(); }

    /// Drops partial values at once: their storage may not live longer than this call.
    void finish() {
        stack_.reset();
        frames_.clear();
        keys_.clear();
        if (text_.size() > kept_bytes_max) keys_.release_memory();
        text_ = {};
    }

    struct Fault {
        ErrorCode code = ErrorCode::invalid_argument;
        std::string what;  ///< empty: none found
        std::string_view advice;
        /// Where the token begins; null if only the parser's own position is known.
        const char* place = nullptr;
    };
    const Fault& fault() const { return fault_; }
    /// The way to the value that the parser is at.
    std::string path() const;

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_object_begin(error_code& ec) { return open(true, ec); }
    bool on_array_begin(error_code& ec) { return open(false, ec); }

    bool on_object_end(std::size_t size, error_code&) {
        keys_.pop_to(frames_.back().keys_begin);
        frames_.pop_back();
        stack_.push_object(size);
        return value_ends();
    }

    bool on_array_end(std::size_t size, error_code&) {
        frames_.pop_back();
        stack_.push_array(size);
        return value_ends();
    }

    bool on_key_part(string_view part, std::size_t total, error_code& ec) {
        if (!text_fits(part, total, ec)) return false;
        keys_.add_part(part);
        return true;
    }

    bool on_key(string_view last, std::size_t total, error_code& ec) {
        if (!text_fits(last, total, ec)) return false;
        Frame& frame = frames_.back();
        if (keys_.size() - frame.keys_begin >= limits_.keys_max) {
            return too_large(ec, "object has more than {} keys", limits_.keys_max);
        }
        const std::string_view key = keys_.finish(last, is_in_text(last));
        if (!keys_.push(key, frame.keys_begin)) {
            return refuse_duplicate(ec, key, last);
        }
        frame.has_key = true;
        stack_.push_key(key);
        return true;
    }

    bool on_string_part(string_view part, std::size_t total, error_code& ec) {
        if (!text_fits(part, total, ec)) return false;
        stack_.push_chars(part);
        return true;
    }

    bool on_string(string_view last, std::size_t total, error_code& ec) {
        if (!text_fits(last, total, ec) || !node_fits(ec)) return false;
        stack_.push_string(last);
        return value_ends();
    }

    bool on_number_part(string_view, error_code&) { return true; }
    bool on_int64(std::int64_t integer, string_view text, error_code& ec) {
        // Boost.JSON reads integers right, only its doubles are off. Zero may be negative.
        if (integer == 0 || integer > integer_max || integer < -integer_max) {
            return on_number(text, ec);
        }
        if (!node_fits(ec)) return false;
        stack_.push_int64(integer);
        return value_ends();
    }
    bool on_uint64(std::uint64_t, string_view text, error_code& ec) { return on_number(text, ec); }
    bool on_double(double, string_view text, error_code& ec) { return on_number(text, ec); }

    bool on_bool(bool is_true, error_code& ec) {
        if (!node_fits(ec)) return false;
        stack_.push_bool(is_true);
        return value_ends();
    }

    bool on_null(error_code& ec) {
        if (!node_fits(ec)) return false;
        stack_.push_null();
        return value_ends();
    }

    bool on_comment_part(string_view, error_code&) { return true; }
    bool on_comment(string_view, error_code&) { return true; }

  private:
    struct Frame {
        bool is_object;
        bool has_key = false;            // a key whose value has not ended
        std::size_t keys_begin;          // of an object: where its keys start
        std::size_t index = 0;           // of an array: the element to come
        std::string_view repeated = {};  // the duplicate that ended the parse
    };

    // All refusals stay out of line, so that what every value goes through is inlined.
    [[gnu::cold]] bool refuse(error_code& ec, std::string what, std::string_view token = {}) {
        fault_ = {.what = std::move(what), .advice = {}};
        if (is_in_text(token)) fault_.place = token.data();
        ec = boost::json::error::exception;
        return false;
    }

    [[gnu::cold]] bool too_large(error_code& ec, fmt::format_string<std::size_t&> what,
                                 std::size_t limit) {
        refuse(ec, fmt::format(what, limit));
        fault_.code = ErrorCode::too_large;
        return false;
    }

    [[gnu::cold]] bool refuse_nul(error_code& ec) { return refuse(ec, "string holds U+0000"); }

    [[gnu::cold]] bool refuse_duplicate(error_code& ec, std::string_view key,
                                        std::string_view token) {
        frames_.back().repeated = key;
        return refuse(ec, fmt::format("duplicate key `{}`", shown(key)), token);
    }

    bool open(bool is_object, error_code& ec) {
        if (!node_fits(ec)) return false;
        const auto depth_max = static_cast<std::size_t>(limits_.depth_max);
        if (frames_.size() >= depth_max) {
            return too_large(ec, "nested deeper than {} levels", depth_max);
        }
        frames_.push_back({.is_object = is_object, .keys_begin = keys_.size()});
        return true;
    }

    bool node_fits(error_code& ec) {
        if (++nodes_ <= limits_.nodes_max) return true;
        return too_large(ec, "more than {} values", limits_.nodes_max);
    }

    bool text_fits(std::string_view part, std::size_t total, error_code& ec) {
        if (total > limits_.string_bytes_max) {
            return too_large(ec, "string is longer than {} bytes", limits_.string_bytes_max);
        }
        // Raw text cannot hold U+0000, that is a syntax error; an escape can.
        if (!is_in_text(part) && part.find('\0') != std::string_view::npos) {
            return refuse_nul(ec);
        }
        return true;
    }

    bool on_number(std::string_view text, error_code& ec) {
        if (!node_fits(ec)) return false;
        Number number;
        const NumberFault fault = read_number(text, number);
        if (fault != NumberFault::none) return refuse_number(ec, fault, text);
        if (number.is_integer) {
            stack_.push_int64(number.integer);
        } else {
            stack_.push_double(number.real);
        }
        return value_ends();
    }

    [[gnu::cold]] bool refuse_number(error_code& ec, NumberFault fault, std::string_view text) {
        refuse(ec, fmt::format("number `{}` {}", shown(text), describe(fault)), text);
        if (fault != NumberFault::negative_zero) fault_.advice = "; send it as a string";
        return false;
    }

    static std::string_view describe(NumberFault fault) {
        switch (fault) {
            case NumberFault::none:
                break;
            case NumberFault::negative_zero:
                return "is negative zero";
            case NumberFault::beyond_integers:
                return "loses precision beyond ±(2^53-1)";
            case NumberFault::out_of_range:
                return "is beyond the range of a double";
            case NumberFault::loses_precision:
                return "loses precision";
        }
        return "";
    }

    bool value_ends() {
        if (frames_.empty()) return true;
        Frame& frame = frames_.back();
        frame.has_key = false;
        ++frame.index;
        return true;
    }

    bool is_in_text(std::string_view part) const {
        constexpr std::less_equal<const char*> before;
        return part.data() != nullptr && before(text_.data(), part.data()) &&
               before(part.data() + part.size(), text_.data() + text_.size());
    }

    std::string_view text_;
    Limits limits_;
    std::size_t nodes_ = 0;
    std::vector<Frame> frames_;
    KeyStack keys_;
    boost::json::value_stack stack_;
    Fault fault_;
};

bool is_name(std::string_view key) {
    const auto is_name_char = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
    };
    return !key.empty() && key.size() <= shown_bytes_max && std::ranges::all_of(key, is_name_char);
}

void append_key(std::string& path, std::string_view key) {
    if (!is_name(key)) {
        path += '[';
        append_quoted(path, shown(key));
        path += ']';
        return;
    }
    if (!path.empty()) path += '.';
    path += key;
}

std::string Handler::path() const {
    std::string path;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
        const Frame& frame = frames_[i];
        const std::size_t keys_end =
            i + 1 < frames_.size() ? frames_[i + 1].keys_begin : keys_.size();
        if (!frame.is_object) {
            path += fmt::format("[{}]", frame.index);
        } else if (frame.repeated.data() != nullptr) {
            append_key(path, frame.repeated);
        } else if (frame.has_key) {
            append_key(path, keys_.key(keys_end - 1));
        }
    }
    return path;
}

std::string describe_place(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
    const auto starts_code_point = [](char c) { return (c & 0xC0) != 0x80; };
    return fmt::format("at line {}, column {}", std::ranges::count(before, '\n') + 1,
                       std::ranges::count_if(before.substr(line_begin), starts_code_point) + 1);
}

/// Whether `text` ends in the escape of a leading surrogate, or in that and a backslash.
bool ends_in_leading_surrogate(std::string_view text) {
    if (text.ends_with('\\')) text.remove_suffix(1);
    if (text.size() < 6) return false;
    const std::string_view escape = text.substr(text.size() - 6);
    return escape.starts_with("\\u") && (escape[2] == 'd' || escape[2] == 'D') &&
           std::string_view("89abAB").contains(escape[3]);
}

std::string describe_syntax(std::string_view text, std::size_t offset, error_code ec) {
    using boost::json::error;
    if (ec == error::illegal_leading_surrogate || ec == error::illegal_trailing_surrogate ||
        ends_in_leading_surrogate(text.substr(0, offset))) {
        return "lone surrogate";
    }
    if (ec == error::expected_hex_digit) return "escape without four hexadecimal digits";
    if (ec == error::exponent_overflow) return "number beyond the range of a double";
    if (ec == error::incomplete || offset >= text.size()) return "text ends too early";
    const CodePoint found = first_code_point(text.substr(offset));
    return fmt::format("unexpected `{}`",
                       visible(text.substr(offset, static_cast<std::size_t>(found.bytes))));
}

Error syntax_error(std::string_view text, std::size_t offset, std::string_view what,
                   std::string path = {}) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} {}", what, describe_place(text, offset)), std::move(path)};
}

/// Tells what is wrong with a text that the parser left at `offset`.
Error explain(const Handler& handler, std::string_view text, std::size_t offset, error_code ec) {
    if (const Handler::Fault& fault = handler.fault(); !fault.what.empty()) {
        if (fault.place != nullptr) offset = static_cast<std::size_t>(fault.place - text.data());
        return Error{fault.code,
                     fmt::format("{} {}{}", fault.what, describe_place(text, offset), fault.advice),
                     handler.path()};
    }
    if (const std::size_t valid = utf8_prefix(text); valid < text.size() && valid <= offset) {
        return syntax_error(text, valid, "text is not UTF-8", handler.path());
    }
    return syntax_error(text, offset, describe_syntax(text, offset, ec), handler.path());
}

using Parser = boost::json::basic_parser<Handler>;

boost::json::parse_options parser_options() {
    boost::json::parse_options options;
    options.max_depth = depth_ceiling + 1;  // the handler refuses first, with its own words
    return options;
}

Result<value> run(Parser& parser, std::string_view text) {
    error_code ec;
    const std::size_t read = parser.write_some(false, text.data(), text.size(), ec);
    if (ec) return explain(parser.handler(), text, read, ec);
    if (read < text.size()) {
        return syntax_error(text, read, "more text after the JSON value");
    }
    return parser.handler().take();
}

}  // namespace

Result<value> parse(std::string_view text, const Limits& limits, boost::json::storage_ptr storage) {
    HOLDPOINT_ASSERT(limits.depth_max >= 0 && limits.depth_max <= depth_ceiling);
    if (text.size() > limits.bytes_max) {
        return Error{ErrorCode::too_large,
                     fmt::format("text is longer than {} bytes", limits.bytes_max)};
    }
    if (text.empty()) return Error{ErrorCode::invalid_argument, "text is empty, JSON expected"};
    if (text.starts_with("\xEF\xBB\xBF")) {
        return Error{ErrorCode::invalid_argument, "text starts with a byte order mark"};
    }

    // Buffers stay with the thread: allocating them anew costs as much as parsing.
    thread_local Parser parser(parser_options());
    parser.reset();
    parser.handler().start(text, limits, std::move(storage));
    try {
        Result<value> result = run(parser, text);
        parser.handler().finish();
        return result;
    } catch (const std::exception&) {  // bad_alloc, or a fixed storage that is full
        parser.handler().finish();
        return Error{ErrorCode::unavailable, "not enough memory to read the JSON text"};
    }
}

}  // namespace holdpoint::json
