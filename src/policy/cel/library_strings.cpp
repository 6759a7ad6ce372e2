#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/cel/library.h"
#include "policy/cel/utf8.h"

/// The extension `strings`, as far as the result is a part of the text or a place in it. Positions
/// count code points.
namespace holdpoint::cel {
namespace {

using Arguments = std::span<const Value>;

Value outside(Call& call, std::int64_t position) {
    return call.fail(Fault::out_of_range, fmt::format("index out of range: {}", position));
}

/// Where a position is in bytes; npos if the text has no such position.
std::size_t byte_offset(std::string_view text, std::int64_t position) {
    if (position < 0) return std::string_view::npos;
    return offset_of(text, static_cast<std::size_t>(position));
}

Value char_at(Call& call, Arguments arguments) {
    const std::string_view text = arguments[0].as_text();
    if (!call.charge(text.size() / 64)) return {};
    const std::size_t offset = byte_offset(text, arguments[1].as_integer());
    if (offset == text.npos) return outside(call, arguments[1].as_integer());
    const CodePoint point = first_code_point(text.substr(offset));
    return Value::string(text.substr(offset, static_cast<std::size_t>(point.bytes)));
}

Value place_of(std::string_view text, std::size_t offset) {
    if (offset == text.npos) return Value::integer(-1);
    return Value::integer(static_cast<std::int64_t>(count_code_points(text.substr(0, offset))));
}

Value index_of(Call& call, Arguments arguments) {
    const std::string_view text = arguments[0].as_text();
    if (!call.charge(text.size() / 32)) return {};
    const std::int64_t from = arguments.size() > 2 ? arguments[2].as_integer() : 0;
    const std::size_t offset = byte_offset(text, from);
    if (offset == text.npos) return outside(call, from);
    return place_of(text, text.find(arguments[1].as_text(), offset));
}

Value last_index_of(Call& call, Arguments arguments) {
    const std::string_view text = arguments[0].as_text();
    if (!call.charge(text.size() / 32)) return {};
    std::size_t last = text.size();
    if (arguments.size() > 2) {
        last = byte_offset(text, arguments[2].as_integer());
        if (last == text.npos) return outside(call, arguments[2].as_integer());
    }
    return place_of(text, text.rfind(arguments[1].as_text(), last));
}

Value substring(Call& call, Arguments arguments) {
    const std::string_view text = arguments[0].as_text();
    if (!call.charge(text.size() / 32)) return {};
    const std::int64_t begin = arguments[1].as_integer();
    const std::size_t first = byte_offset(text, begin);
    if (first == text.npos) return outside(call, begin);
    if (arguments.size() == 2) return Value::string(text.substr(first));
    const std::int64_t end = arguments[2].as_integer();
    const std::size_t last = byte_offset(text, end);
    if (last == text.npos) return outside(call, end);
    if (last < first) {
        return call.fail(Fault::out_of_range,
                         fmt::format("the end {} lies before the start {}", end, begin));
    }
    return Value::string(text.substr(first, last - first));
}

bool is_space(char32_t c) {
    return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

Value trim(Call& call, Arguments arguments) {
    std::string_view text = arguments[0].as_text();
    if (!call.charge(text.size() / 64)) return {};
    while (!text.empty()) {
        const CodePoint point = first_code_point(text);
        if (!is_space(point.value)) break;
        text.remove_prefix(static_cast<std::size_t>(point.bytes));
    }
    while (!text.empty()) {
        std::size_t last = text.size() - 1;
        while (last > 0 && is_continuation(text[last])) --last;
        if (!is_space(first_code_point(text.substr(last)).value)) break;
        text = text.substr(0, last);
    }
    return Value::string(text);
}

/// Separators of one kind cut the text into this many pieces at most.
Value pieces(Call& call, std::string_view text, std::string_view separator, std::size_t max) {
    std::vector<Value> found;
    while (found.size() + 1 < max) {
        std::size_t length = text.find(separator);
        if (separator.empty()) {
            length = static_cast<std::size_t>(first_code_point(text).bytes);
            if (length == text.size()) break;
        }
        if (length == text.npos) break;
        found.push_back(Value::string(text.substr(0, length)));
        text.remove_prefix(length + separator.size());
        if (!call.charge(1)) return {};
    }
    if (!text.empty() || !separator.empty()) found.push_back(Value::string(text));
    auto* elements = call.arena().make_array<Value>(found.size());
    std::ranges::copy(found, elements);
    return Value::list({elements, found.size()});
}

Value split(Call& call, Arguments arguments) {
    const std::string_view text = arguments[0].as_text();
    if (!call.charge(text.size() / 32)) return {};
    const std::int64_t limit = arguments.size() > 2 ? arguments[2].as_integer() : -1;
    if (limit == 0) return Value::list({});
    const std::size_t max = limit < 0 ? std::string_view::npos : static_cast<std::size_t>(limit);
    return pieces(call, text, arguments[1].as_text(), max);
}

}  // namespace

void add_string_functions(Library& library) {
    const Type string = Type::string();
    const Type integer = Type::integer();
    const Type list = Type::list(string);
    const Library::Cost linear{1, true};
    library.method("charAt", {string, integer}, string, char_at, linear);
    library.method("indexOf", {string, string}, integer, index_of, linear);
    library.method("indexOf", {string, string, integer}, integer, index_of, linear);
    library.method("lastIndexOf", {string, string}, integer, last_index_of, linear);
    library.method("lastIndexOf", {string, string, integer}, integer, last_index_of, linear);
    library.method("substring", {string, integer}, string, substring, linear);
    library.method("substring", {string, integer, integer}, string, substring, linear);
    library.method("trim", {string}, string, trim, linear);
    library.method("split", {string, string}, list, split, linear);
    library.method("split", {string, string, integer}, list, split, linear);
}

}  // namespace holdpoint::cel
