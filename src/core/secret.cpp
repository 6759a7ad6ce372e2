#include "core/secret.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace holdpoint::core {
namespace {

// Without what separates words: `api_key`, `api-key` and `apiKey` are one name.
constexpr auto secret_words = std::to_array<std::string_view>(
    {"password", "passwd", "passphrase", "secret", "token", "apikey", "privatekey", "credential",
     "authorization", "cookie"});

}  // namespace

bool is_secret_name(std::string_view name) {
    std::string plain = ascii::lowered(name);
    std::erase_if(plain, [](char c) { return c == '_' || c == '-' || c == ' '; });
    return std::any_of(secret_words.begin(), secret_words.end(), [&](std::string_view word) {
        return plain.find(word) != std::string::npos;
    });
}

boost::json::value without_secrets(const boost::json::value& value) {
    if (const boost::json::array* list = value.if_array()) {
        boost::json::array out;
        for (const boost::json::value& item : *list) out.push_back(without_secrets(item));
        return out;
    }
    const boost::json::object* members = value.if_object();
    if (!members) return value;
    boost::json::object out;
    for (const auto& member : *members) {
        const std::string_view name(member.key().data(), member.key().size());
        if (is_secret_name(name))
            out[member.key()] = hidden;
        else
            out[member.key()] = without_secrets(member.value());
    }
    return out;
}

}  // namespace holdpoint::core
