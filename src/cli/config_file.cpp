#include "cli/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace holdpoint::cli {
namespace {

constexpr std::array<std::string_view, 4> client_keys{"url", "token_file", "ca_file", "color"};
constexpr std::size_t list_words_max = 10'000;

bool is_word_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/// `12`, `-3`, `0.5`: what every reader takes for the same number.
bool is_plain_number(std::string_view word) {
    if (word.starts_with('-')) word.remove_prefix(1);
    const std::size_t dot = word.find('.');
    const auto are_digits = [](std::string_view part) {
        return !part.empty() &&
               std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    };
    if (dot == std::string_view::npos) return are_digits(word);
    return are_digits(word.substr(0, dot)) && are_digits(word.substr(dot + 1));
}

class ConfigReader {
  public:
    explicit ConfigReader(std::string_view text) : rest_(text) {}

    Result<ConfigFile> read() {
        ConfigFile file;
        ConfigTable* table = &file.client;
        bool has_serve = false;
        while (true) {
            skip_to_content();
            if (rest_.empty()) return file;
            if (rest_.front() == '[') {
                if (Result<void> ok = read_header(); !ok) return ok.error();
                if (std::exchange(has_serve, true)) return fail("`[serve]` stands here twice");
                table = &file.serve;
            } else if (Result<void> ok = read_pair(*table, !has_serve); !ok) {
                return ok.error();
            }
        }
    }

  private:
    Error fail(std::string_view why) const {
        return {ErrorCode::invalid_argument, fmt::format("line {}: {}", line_, why)};
    }

    void take(std::size_t count) {
        line_ += static_cast<int>(std::ranges::count(rest_.substr(0, count), '\n'));
        rest_.remove_prefix(count);
    }

    void skip_spaces() { take(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

    void skip_to_content() {
        while (true) {
            take(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
            if (!rest_.starts_with('#')) return;
            take(std::min(rest_.find('\n'), rest_.size()));
        }
    }

    bool is_at_line_end() {
        skip_spaces();
        return rest_.empty() || rest_.starts_with('\n') || rest_.starts_with("\r\n") ||
               rest_.starts_with('#');
    }

    std::string_view take_word() {
        const auto end = std::ranges::find_if_not(rest_, is_word_character);
        const std::string_view word =
            rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
        rest_.remove_prefix(word.size());
        return word;
    }

    Result<void> read_header() {
        const std::string_view line = rest_.substr(0, rest_.find('\n'));
        take(1);
        skip_spaces();
        const std::string_view name = take_word();
        skip_spaces();
        const bool is_closed = rest_.starts_with(']');
        if (is_closed) take(1);
        if (is_closed && is_at_line_end() && name == "serve") return {};
        const std::size_t close = line.find(']');
        if (close == std::string_view::npos) return fail("a table's `[` is not closed");
        return fail(fmt::format("there is no table `{}`; the only one is `[serve]`",
                                visible(cut_utf8(line.substr(0, close + 1), 60))));
    }

    Result<void> read_pair(ConfigTable& table, bool is_client) {
        const int line = line_;
        const std::string key(take_word());
        skip_spaces();
        if (key.empty() || !rest_.starts_with('='))
            return fail("expected a line like `key = \"value\"`");
        if (is_client && std::ranges::find(client_keys, key) == client_keys.end())
            return fail(fmt::format("unknown key `{}`; above `[serve]` there are {}", key,
                                    fmt::join(client_keys, ", ")));
        take(1);
        skip_spaces();
        Result<ConfigValue> value = rest_.starts_with('[') ? read_list() : read_single();
        if (!value) return value.error();
        if (!is_at_line_end()) return fail("only a comment can follow a value");
        if (is_client && value->kind != ConfigValue::Kind::text)
            return fail(fmt::format("`{}` must be a string in quotes", key));
        value->line = line;
        if (!table.emplace(key, std::move(*value)).second)
            return fail(fmt::format("`{}` is set twice", key));
        return {};
    }

    Result<ConfigValue> read_list() {
        const Error open = fail("a list's `[` is not closed");
        ConfigValue list{ConfigValue::Kind::list, {}, 0};
        take(1);
        while (true) {
            skip_to_content();
            if (rest_.empty()) return open;
            if (rest_.front() == ']') {
                take(1);
                return list;
            }
            if (rest_.front() == '[') return fail("a list in a list is not taken");
            Result<ConfigValue> value = read_single();
            if (!value) return value.error();
            if (list.words.size() == list_words_max) return fail("the list is too long");
            list.words.push_back(std::move(value->words.front()));
            skip_to_content();
            if (rest_.empty()) return open;
            if (rest_.front() == ',')
                take(1);
            else if (rest_.front() != ']')
                return fail("expected `,` or `]` in a list");
        }
    }

    Result<ConfigValue> read_single() {
        if (rest_.starts_with('"') || rest_.starts_with('\'')) return read_string();
        const std::string_view before = rest_;
        while (!rest_.empty() && (is_word_character(rest_.front()) || rest_.front() == '.'))
            rest_.remove_prefix(1);
        const std::string_view word = before.substr(0, before.size() - rest_.size());
        if (word == "true" || word == "false")
            return ConfigValue{ConfigValue::Kind::truth, {std::string(word)}, 0};
        if (is_plain_number(word))
            return ConfigValue{ConfigValue::Kind::number, {std::string(word)}, 0};
        return fail("expected a string in quotes, a number, true or false");
    }

    /// On one line. `'…'` as it stands; `"…"` with `\"` and `\\` and no other escape.
    Result<ConfigValue> read_string() {
        const char quote = rest_.front();
        std::string text;
        for (std::size_t i = 1; i < rest_.size(); ++i) {
            const char c = rest_[i];
            if (c == quote) {
                take(i + 1);
                if (!is_utf8(text)) return fail("a string is not UTF-8");
                return ConfigValue{ConfigValue::Kind::text, {std::move(text)}, 0};
            }
            if (c == '\n' || c == '\r') break;
            if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f)
                return fail("a string has a control character");
            if (c != '\\' || quote == '\'') {
                text += c;
                continue;
            }
            ++i;
            if (i == rest_.size() || (rest_[i] != '"' && rest_[i] != '\\'))
                return fail("in a string `\\` stands only before `\"` and `\\`");
            text += rest_[i];
        }
        return fail("a string's quote is not closed");
    }

    std::string_view rest_;
    int line_ = 1;
};

}  // namespace

Result<ConfigFile> parse_config(std::string_view text) { return ConfigReader(text).read(); }

}  // namespace holdpoint::cli
