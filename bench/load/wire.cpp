#include "wire.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>

#include "client.h"

namespace holdpoint::load {
namespace {

std::string message(std::string_view method, const std::string& key, std::string_view target,
                    std::string_view body) {
    std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\n", method, target);
    if (!key.empty()) text += fmt::format("Authorization: Bearer {}\r\n", key);
    if (method != "GET")
        text +=
            fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", body.size());
    text += "\r\n";
    text += body;
    return text;
}

}  // namespace

Keys::Keys(const std::string& path) {
    if (path.empty()) {
        keys_.emplace_back();
        return;
    }
    std::ifstream file(path);
    for (std::string key; std::getline(file, key);)
        if (!key.empty()) keys_.push_back(std::move(key));
    if (keys_.empty()) fail(fmt::format("no keys in `{}`", path));
}

std::string create(const std::string& key, std::string_view session, std::int64_t number,
                   std::size_t bytes) {
    std::string body = fmt::format(
        R"({{"kind":"action","session":"{}","action":{{"tool":"process_refund","description":)"
        R"("Refund an order that arrived broken","arguments":{{"order":"order-{}","amount":12500.5,)"
        R"("currency":"EUR","account":"DE02120300000000202051","lines":[1,2,3],"memo":")",
        session, number);
    constexpr std::string_view end = R"("}},"context":{"user_prompt":"Please refund my order"}})";
    constexpr std::string_view words = "the customer sent pictures of the damage and the invoice; ";
    while (body.size() + end.size() < bytes)
        body += words.substr(0, bytes - body.size() - end.size());
    body += end;
    return message("POST", key, "/v1/requests", body);
}

std::string wait(const std::string& key, std::string_view id, int seconds) {
    return get(key, fmt::format("/v1/requests/{}?wait={}", id, seconds));
}

std::string decide(const std::string& key, std::string_view id, std::string_view note) {
    return message("POST", key, fmt::format("/v1/requests/{}/decision", id),
                   fmt::format(R"({{"decision":"approve","note":"{}"}})", note));
}

std::string get(const std::string& key, std::string_view target) {
    return message("GET", key, target, "");
}

std::string_view id_of(std::string_view body) {
    constexpr std::string_view name = R"("id":")";
    const std::size_t start = body.find(name);
    if (start == body.npos) fail(fmt::format("no id in `{}`", body.substr(0, 200)));
    body.remove_prefix(start + name.size());
    return body.substr(0, body.find('"'));
}

bool is_decided_with(std::string_view body, std::string_view note) {
    return body.find(R"("outcome":"approved")") != body.npos &&
           body.find(fmt::format(R"("note":"{}")", note)) != body.npos;
}

std::int64_t number_of(std::string_view body, std::string_view name) {
    const std::string field = fmt::format("\"{}\":", name);
    const std::size_t start = body.find(field);
    if (start == body.npos) return -1;
    body.remove_prefix(start + field.size());
    std::int64_t number = -1;
    std::from_chars(body.data(), body.data() + body.size(), number);
    return number;
}

}  // namespace holdpoint::load
