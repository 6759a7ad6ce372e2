#include "policy/cel/encode.h"
#include "policy/cel/library.h"

namespace holdpoint::cel {
namespace {

using Arguments = std::span<const Value>;

Value encode(Call& call, Arguments arguments) {
    const std::string_view bytes = arguments[0].as_text();
    if (!call.charge(bytes.size() / 16)) return {};
    return Value::string(call.arena().copy(encode_base64(bytes)));
}

Value decode(Call& call, Arguments arguments) {
    const std::string_view text = arguments[0].as_text();
    if (!call.charge(text.size() / 8)) return {};
    const std::optional<std::string> bytes = decode_base64(text);
    if (!bytes) return call.fail(Fault::invalid_argument, "the text is not base64");
    return Value::bytes(call.arena().copy(*bytes));
}

}  // namespace

void add_encoders(Library& library) {
    library.function("base64.encode", {Type::bytes()}, Type::string(), encode, {2, true});
    library.function("base64.decode", {Type::string()}, Type::bytes(), decode, {2, true});
}

}  // namespace holdpoint::cel
