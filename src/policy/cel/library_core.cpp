#include <fmt/format.h>

#include "policy/cel/code.h"
#include "policy/cel/cost.h"
#include "policy/cel/library.h"
#include "policy/cel/utf8.h"

namespace holdpoint::cel {
namespace {

using Arguments = std::span<const Value>;

Value size_of_string(Call& call, Arguments arguments) {
    const std::string_view text = arguments[0].as_text();
    if (!call.charge(text.size() / 64)) return {};
    return Value::integer(static_cast<std::int64_t>(count_code_points(text)));
}

Value size_of_bytes(Call&, Arguments arguments) {
    return Value::integer(static_cast<std::int64_t>(arguments[0].as_text().size()));
}

Value size_of_container(Call&, Arguments arguments) {
    return Value::integer(static_cast<std::int64_t>(arguments[0].size()));
}

Value starts_with(Call&, Arguments arguments) {
    return Value::boolean(arguments[0].as_text().starts_with(arguments[1].as_text()));
}

Value ends_with(Call&, Arguments arguments) {
    return Value::boolean(arguments[0].as_text().ends_with(arguments[1].as_text()));
}

Value contains(Call& call, Arguments arguments) {
    const std::string_view text = arguments[0].as_text();
    if (!call.charge(text.size() / 32)) return {};
    return Value::boolean(text.find(arguments[1].as_text()) != text.npos);
}

/// Only where patterns may vary; constant ones are compiled with the program.
Value matches(Call& call, Arguments arguments) {
    const std::string_view text = arguments[0].as_text();
    if (text.size() > regex_subject_max) {
        return call.fail(Fault::out_of_range, "the text is too long for a regular expression");
    }
    if (!call.charge(100 + text.size() / 16)) return {};
    std::string fault;
    const auto regex = compile_pattern(arguments[1].as_text(), Limits{}, fault);
    if (!regex) return call.fail(Fault::invalid_argument, fault);
    return Value::boolean(
        re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *regex));
}

}  // namespace

void add_core_functions(Library& library) {
    const Type string = Type::string();
    const Type list = Type::list(Type::parameter("A"));
    const Type map = Type::map(Type::parameter("A"), Type::parameter("B"));
    const Type integer = Type::integer();
    const Type boolean = Type::boolean();
    const Library::Cost linear{1, true};

    library.function("size", {string}, integer, size_of_string, linear);
    library.function("size", {Type::bytes()}, integer, size_of_bytes);
    library.function("size", {list}, integer, size_of_container);
    library.function("size", {map}, integer, size_of_container);
    library.method("size", {string}, integer, size_of_string, linear);
    library.method("size", {Type::bytes()}, integer, size_of_bytes);
    library.method("size", {list}, integer, size_of_container);
    library.method("size", {map}, integer, size_of_container);
    library.method("startsWith", {string, string}, boolean, starts_with);
    library.method("endsWith", {string, string}, boolean, ends_with);
    library.method("contains", {string, string}, boolean, contains, linear);
    library.method("matches", {string, string}, boolean, matches, {10, true});
    library.function("matches", {string, string}, boolean, matches, {10, true});
}

}  // namespace holdpoint::cel
