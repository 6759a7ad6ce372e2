#include "policy/functions.h"

#include "policy/match/glob.h"
#include "policy/match/path.h"
#include "policy/match/url.h"

namespace holdpoint::policy {
namespace {

using cel::Fault;
using cel::Type;
using cel::Value;
using Arguments = std::span<const Value>;

constexpr std::uint32_t text_cost = 20;

Value fail(cel::Call& call, const Error& error) {
    return call.fail(Fault::invalid_argument, error.message);
}

/// A function from one text to a text that can fail.
cel::Overload text_part(Result<std::string> (*part)(std::string_view)) {
    return {{Type::string()},
            Type::string(),
            false,
            [part](cel::Call& call, Arguments arguments) {
                const Result<std::string> text = part(arguments[0].as_text());
                if (!text) return fail(call, text.error());
                return Value::string(call.arena().copy(*text));
            },
            text_cost};
}

Value port(cel::Call& call, Arguments arguments) {
    const Result<int> number = match::url_port(arguments[0].as_text());
    if (!number) return fail(call, number.error());
    return Value::integer(*number);
}

Value under(cel::Call& call, Arguments arguments) {
    const Result<bool> is_under = match::path_under(arguments[0].as_text(), arguments[1].as_text());
    if (!is_under) return fail(call, is_under.error());
    return Value::boolean(*is_under);
}

Value fits_shape(cel::Call& call, Arguments arguments) {
    const std::string_view text = arguments[0].as_text();
    const std::string_view pattern = arguments[1].as_text();
    // Matching may look at every character once for each of the pattern's.
    if (!call.charge(text.size() * (pattern.size() + 1) / 64))
        return Value::error(Fault::budget_exceeded, "too much text for a glob");
    return Value::boolean(match::glob_matches(pattern, text, match::GlobKind::text));
}

}  // namespace

void declare_functions(cel::Environment& environment) {
    environment.declare_function("url.host", text_part(match::url_host));
    environment.declare_function("url.scheme", text_part(match::url_scheme));
    environment.declare_function("url.path", text_part(match::url_path));
    environment.declare_function("url.port",
                                 {{Type::string()}, Type::integer(), false, port, text_cost});
    environment.declare_function(
        "path.under", {{Type::string(), Type::string()}, Type::boolean(), false, under, text_cost});
    environment.declare_function(
        "glob", {{Type::string(), Type::string()}, Type::boolean(), false, fits_shape, text_cost});
}

}  // namespace holdpoint::policy
