#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/cel/format.h"
#include "policy/cel/library.h"
#include "policy/cel/utf8.h"

/// The extension `strings`, where new text is built.
namespace holdpoint::cel {
namespace {

using Arguments = std::span<const Value>;

template <char From, char To, int Change>
Value change_case(Call& call, Arguments arguments) {
    const std::string_view text = arguments[0].as_text();
    if (!call.charge(text.size() / 32)) return {};
    char* changed = call.arena().make_array<char>(text.size());
    std::ranges::transform(text, changed, [](char c) {
        return c >= From && c <= To ? static_cast<char>(c + Change) : c;
    });
    return Value::string({changed, text.size()});
}

Value reverse(Call& call, Arguments arguments) {
    const std::string_view text = arguments[0].as_text();
    if (!call.charge(text.size() / 16)) return {};
    char* reversed = call.arena().make_array<char>(text.size());
    std::size_t end = text.size();
    for (std::size_t begin = 0; begin < text.size();) {
        const auto length =
            static_cast<std::size_t>(std::max(first_code_point(text.substr(begin)).bytes, 1));
        end -= length;
        std::memcpy(reversed + end, text.data() + begin, length);
        begin += length;
    }
    return Value::string({reversed, text.size()});
}

Value join(Call& call, Arguments arguments) {
    const std::string_view separator = arguments.size() > 1 ? arguments[1].as_text() : "";
    std::string joined;
    for (std::size_t i = 0; i < arguments[0].size(); ++i) {
        const Value element = arguments[0].element(i, call.arena());
        if (element.kind() != Kind::string) {
            if (element.is_error()) return element;
            return call.fail(Fault::no_such_overload, "`join` is for lists of strings");
        }
        if (i > 0) joined += separator;
        joined += element.as_text();
        if (!call.charge(1 + (element.as_text().size() + separator.size()) / 32)) return {};
    }
    return Value::string(call.arena().copy(joined));
}

Value replace(Call& call, Arguments arguments) {
    const std::string_view text = arguments[0].as_text();
    const std::string_view old = arguments[1].as_text();
    const std::string_view fresh = arguments[2].as_text();
    std::int64_t left = arguments.size() > 3 ? arguments[3].as_integer() : -1;
    if (!call.charge(text.size() / 32)) return {};
    std::string result;
    std::size_t at = 0;
    // An empty text is found before every code point and at the end.
    while (left != 0) {
        const std::size_t found = text.find(old, at);
        if (found == text.npos) break;
        result += text.substr(at, found - at);
        result += fresh;
        at = found + old.size();
        if (left > 0) --left;
        if (!call.charge(1 + fresh.size() / 32)) return {};
        if (!old.empty()) continue;
        if (at == text.size()) return Value::string(call.arena().copy(result));
        const auto length = static_cast<std::size_t>(first_code_point(text.substr(at)).bytes);
        result += text.substr(at, length);
        at += length;
    }
    result += text.substr(at);
    return Value::string(call.arena().copy(result));
}

Value quote(Call& call, Arguments arguments) {
    std::string_view text = arguments[0].as_text();
    if (!call.charge(text.size() / 16)) return {};
    static constexpr std::string_view special = "\a\b\f\n\r\t\v\\\"";
    static constexpr std::string_view written = "abfnrtv\\\"";
    std::string quoted = "\"";
    while (!text.empty()) {
        const CodePoint point = first_code_point(text);
        const auto length = static_cast<std::size_t>(std::max(point.bytes, 1));
        if (point.bytes == 0) {
            quoted += "\xef\xbf\xbd";
        } else if (const std::size_t index = special.find(text.front());
                   length == 1 && index != special.npos) {
            quoted += '\\';
            quoted += written[index];
        } else {
            quoted += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
    quoted += '"';
    return Value::string(call.arena().copy(quoted));
}

Value format(Call& call, Arguments arguments) {
    return format_text(call, arguments[0].as_text(), arguments[1]);
}

}  // namespace

void add_string_builders(Library& library) {
    const Type string = Type::string();
    const Type integer = Type::integer();
    const Library::Cost linear{1, true};
    library.method("lowerAscii", {string}, string, change_case<'A', 'Z', 'a' - 'A'>, linear);
    library.method("upperAscii", {string}, string, change_case<'a', 'z', 'A' - 'a'>, linear);
    library.method("reverse", {string}, string, reverse, linear);
    library.method("join", {Type::list(string)}, string, join, linear);
    library.method("join", {Type::list(string), string}, string, join, linear);
    library.method("replace", {string, string, string}, string, replace, linear);
    library.method("replace", {string, string, string, integer}, string, replace, linear);
    library.function("strings.quote", {string}, string, quote, linear);
    library.method("format", {string, Type::list(Type::dynamic())}, string, format, {5, true});
}

}  // namespace holdpoint::cel
