#include "policy/yaml/reader.h"

#include <yaml.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/match/characters.h"
#include "policy/yaml/scalar.h"

namespace holdpoint::policy::yaml {
namespace {

using match::OddCharacter;
using match::Oddity;

Mark to_mark(const yaml_mark_t& mark) {
    return {static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1};
}

Mark mark_of(std::string_view text, std::size_t offset) {
    Mark mark{1, 1};
    for (std::size_t at = 0; at < offset; ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        if (byte == '\n') {
            ++mark.line;
            mark.column = 1;
        } else if ((byte & 0xC0) != 0x80) {
            ++mark.column;
        }
    }
    return mark;
}

std::string_view view(const yaml_char_t* text) {
    return text ? reinterpret_cast<const char*>(text) : std::string_view();
}

std::string quoted(std::string_view text) {
    return fmt::format("`{}`", visible(cut_utf8(text, 64)));
}

/// Why a raw character may not stand in the file, or empty.
std::string why_refused(std::string_view text, const OddCharacter& odd) {
    if (odd.oddity == Oddity::not_utf8) return "the file is not UTF-8 here";
    if (odd.oddity == Oddity::space || odd.oddity == Oddity::unassigned) return {};
    if (odd.value == '\n' || text.substr(odd.offset).starts_with("\r\n")) return {};
    if (odd.value == '\t') return "a tab; indent with spaces, or write `\\t` in double quotes";
    if (odd.value == '\r') return "a carriage return without a newline";
    return fmt::format(
        "{} character U+{:04X}; if it is meant, write it as an escape in double quotes",
        match::to_string(odd.oddity), static_cast<std::uint32_t>(odd.value));
}

/// libyaml breaks lines at characters where YAML 1.2 does not and takes some controls for content;
/// without those characters both read the same.
Result<void> check_characters(std::string_view text) {
    std::size_t from = 0;
    while (const std::optional<OddCharacter> odd = match::find_odd_character(text, from)) {
        const std::string why = why_refused(text, *odd);
        if (!why.empty()) return error_at(mark_of(text, odd->offset), why);
        from = odd->offset + static_cast<std::size_t>(odd->bytes);
    }
    return {};
}

class Event {
  public:
    Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { yaml_event_delete(&event_); }

    yaml_event_t* operator->() { return &event_; }
    yaml_event_t* replace() {
        yaml_event_delete(&event_);
        return &event_;
    }

  private:
    yaml_event_t event_{};
};

class Parser {
  public:
    Parser() : is_ready_(yaml_parser_initialize(&parser_) == 1) {}
    Parser(const Parser&) = delete;
    Parser& operator=(const Parser&) = delete;
    ~Parser() {
        if (is_ready_) yaml_parser_delete(&parser_);
    }

    bool is_ready() const { return is_ready_; }
    yaml_parser_t* get() { return &parser_; }

  private:
    yaml_parser_t parser_{};
    bool is_ready_;
};

/// Pulls events one at a time; `event_` is the one being looked at.
class Reader {
  public:
    Reader(std::string_view text, const Limits& limits) : limits_(limits) {
        if (!parser_.is_ready()) return;
        yaml_parser_set_input_string(
            parser_.get(), reinterpret_cast<const unsigned char*>(text.data()), text.size());
        yaml_parser_set_encoding(parser_.get(), YAML_UTF8_ENCODING);
    }

    Result<Node> document();

  private:
    Result<void> next();
    Result<Node> node(int depth);
    Result<Node> scalar();
    Result<Node> list(int depth);
    Result<Node> map(int depth);
    Result<Entry> entry(int depth);
    Result<void> check_properties(const yaml_char_t* anchor, const yaml_char_t* tag);

    Node node_of(Kind kind) {
        Node node;
        node.kind = kind;
        node.mark = mark();
        return node;
    }
    Mark mark() { return to_mark(event_->start_mark); }
    Error refuse(std::string_view message) { return error_at(mark(), message); }

    Parser parser_;
    Event event_;
    Limits limits_;
    std::size_t nodes_ = 0;
};

Result<void> Reader::next() {
    if (!parser_.is_ready()) return Error{ErrorCode::unavailable, "not enough memory"};
    if (yaml_parser_parse(parser_.get(), event_.replace()) == 1) return {};
    const yaml_parser_t& parser = *parser_.get();
    if (parser.error == YAML_MEMORY_ERROR || !parser.problem) {
        return Error{ErrorCode::unavailable, "not enough memory"};
    }
    std::string message = parser.problem;
    if (parser.context) message = fmt::format("{}, {}", message, parser.context);
    return error_at(to_mark(parser.problem_mark), message);
}

Result<Node> Reader::document() {
    if (Result<void> read = next(); !read) return read.error();  // the start of the stream
    if (Result<void> read = next(); !read) return read.error();
    if (event_->type == YAML_STREAM_END_EVENT) return error_at({1, 1}, "the file is empty");

    const auto& start = event_->data.document_start;
    if (start.version_directive || start.tag_directives.start != start.tag_directives.end) {
        return refuse("directives are not supported");
    }
    if (Result<void> read = next(); !read) return read.error();
    Result<Node> root = node(0);
    if (!root) return root;
    if (root->is(Kind::null) && root->text.empty()) return error_at({1, 1}, "the file is empty");

    if (Result<void> read = next(); !read) return read.error();  // the end of the document
    if (Result<void> read = next(); !read) return read.error();
    if (event_->type != YAML_STREAM_END_EVENT)
        return refuse("a second document; one file, one document");
    return root;
}

Result<void> Reader::check_properties(const yaml_char_t* anchor, const yaml_char_t* tag) {
    if (anchor)
        return refuse(fmt::format("anchor {}: anchors are not supported", quoted(view(anchor))));
    if (tag) return refuse(fmt::format("tag {}: tags are not supported", quoted(view(tag))));
    return {};
}

Result<Node> Reader::node(int depth) {
    if (++nodes_ > limits_.nodes_max) {
        Error error = refuse(fmt::format("more than {} values", limits_.nodes_max));
        error.code = ErrorCode::too_large;
        return error;
    }
    switch (event_->type) {
        case YAML_SCALAR_EVENT:
            return scalar();
        case YAML_SEQUENCE_START_EVENT:
        case YAML_MAPPING_START_EVENT:
            if (depth >= limits_.depth_max) {
                Error error = refuse(fmt::format("more than {} levels deep", limits_.depth_max));
                error.code = ErrorCode::too_large;
                return error;
            }
            return event_->type == YAML_SEQUENCE_START_EVENT ? list(depth) : map(depth);
        case YAML_ALIAS_EVENT:
            return refuse(fmt::format("alias {}: aliases are not supported",
                                      quoted(view(event_->data.alias.anchor))));
        default:
            return refuse("a value is missing");
    }
}

Result<Node> Reader::scalar() {
    const auto& scalar = event_->data.scalar;
    if (Result<void> ok = check_properties(scalar.anchor, scalar.tag); !ok) return ok.error();

    Node result = node_of(Kind::text);
    result.is_quoted = scalar.style != YAML_PLAIN_SCALAR_STYLE;
    result.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
    if (result.text.contains('\0')) return refuse("U+0000 in a text");
    if (result.is_quoted) return result;
    // libyaml drops the tag `!` and leaves only this trace of it.
    if (scalar.plain_implicit == 0) return refuse("tag `!`: tags are not supported");
    if (Result<void> ok = resolve_plain(result); !ok) return ok.error();
    return result;
}

Result<Node> Reader::list(int depth) {
    const auto& start = event_->data.sequence_start;
    if (Result<void> ok = check_properties(start.anchor, start.tag); !ok) return ok.error();
    Node result = node_of(Kind::list);
    while (true) {
        if (Result<void> read = next(); !read) return read.error();
        if (event_->type == YAML_SEQUENCE_END_EVENT) return result;
        Result<Node> item = node(depth + 1);
        if (!item) return item;
        result.items.push_back(std::move(*item));
    }
}

/// Sorting finds them in a map of any size without a table beside it.
std::optional<std::size_t> find_duplicate(const std::vector<Entry>& entries) {
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        const int compared = entries[a].key.compare(entries[b].key);
        return compared != 0 ? compared < 0 : a < b;
    });
    std::optional<std::size_t> first;
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (entries[order[i]].key != entries[order[i - 1]].key) continue;
        if (!first || order[i] < *first) first = order[i];
    }
    return first;
}

Result<Node> Reader::map(int depth) {
    const auto& start = event_->data.mapping_start;
    if (Result<void> ok = check_properties(start.anchor, start.tag); !ok) return ok.error();
    Node result = node_of(Kind::map);
    while (true) {
        if (Result<void> read = next(); !read) return read.error();
        if (event_->type == YAML_MAPPING_END_EVENT) break;
        Result<Entry> read = entry(depth);
        if (!read) return read.error();
        result.entries.push_back(std::move(*read));
    }
    if (const std::optional<std::size_t> twice = find_duplicate(result.entries)) {
        const Entry& second = result.entries[*twice];
        const auto first = std::ranges::find(result.entries, second.key, &Entry::key);
        return error_at(second.key_mark, fmt::format("key {} stands twice, first in line {}",
                                                     quoted(second.key), first->key_mark.line));
    }
    return result;
}

Result<Entry> Reader::entry(int depth) {
    const Mark key_mark = mark();
    if (event_->type == YAML_SEQUENCE_START_EVENT || event_->type == YAML_MAPPING_START_EVENT) {
        return refuse("a key is a name, not a list or a map");
    }
    if (event_->type == YAML_ALIAS_EVENT) return node(depth).error();

    const auto& scalar = event_->data.scalar;
    if (Result<void> ok = check_properties(scalar.anchor, scalar.tag); !ok) return ok.error();
    Entry result;
    result.key_mark = key_mark;
    result.key.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
    if (result.key.contains('\0')) return refuse("U+0000 in a key");
    if (scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        if (scalar.plain_implicit == 0) return refuse("tag `!`: tags are not supported");
        if (Result<void> ok = check_plain_key(result.key, key_mark); !ok) return ok.error();
    }

    if (Result<void> read = next(); !read) return read.error();
    Result<Node> value = node(depth + 1);
    if (!value) return value.error();
    result.value = std::move(*value);
    return result;
}

}  // namespace

Result<Node> read(std::string_view text, const Limits& limits) {
    if (text.size() > limits.bytes_max) {
        return Error{ErrorCode::too_large, fmt::format("more than {} bytes", limits.bytes_max)};
    }
    if (Result<void> ok = check_characters(text); !ok) return ok.error();
    return Reader(text, limits).document();
}

}  // namespace holdpoint::policy::yaml
