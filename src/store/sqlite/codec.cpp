#include "store/sqlite/codec.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <charconv>
#include <limits>

namespace holdpoint::store::sqlite {
namespace {

namespace bj = boost::json;

void append_quoted(std::string& out, std::string_view text) {
    static constexpr char hex[] = "0123456789abcdef";
    out += '"';
    std::size_t plain = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        out.append(text, plain, i - plain);
        plain = i + 1;
        out += '\\';
        if (c >= 0x20) {
            out += static_cast<char>(c);
        } else {
            out += "u00";
            out += hex[c >> 4];
            out += hex[c & 15];
        }
    }
    out.append(text, plain);
    out += '"';
}

void append_number(std::string& out, std::int64_t number) {
    char buffer[24];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
    out.append(buffer, end);
}

template <class Number>
bool read_number(const bj::value& value, Number& out) {
    const std::int64_t* number = value.if_int64();
    if (!number || *number < std::numeric_limits<Number>::min() ||
        *number > std::numeric_limits<Number>::max())
        return false;
    out = static_cast<Number>(*number);
    return true;
}

template <class Word>
bool read_word(const bj::value& value, Word& out) {
    const bj::string* text = value.if_string();
    if (!text) return false;
    const std::optional<Word> word = core::parse_word<Word>({text->data(), text->size()});
    if (!word) return false;
    out = *word;
    return true;
}

/// Writes one object, member by member.
class ObjectWriter {
  public:
    explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }

    void name(std::string_view name) {
        if (!is_first_) out_ += ',';
        is_first_ = false;
        out_ += '"';
        out_ += name;
        out_ += "\":";
    }
    void add(std::string_view key, std::string_view text) {
        name(key);
        append_quoted(out_, text);
    }
    void add(std::string_view key, std::int64_t number) {
        name(key);
        append_number(out_, number);
    }
    void add_flag(std::string_view key, bool flag) {
        name(key);
        out_ += flag ? "true" : "false";
    }
    void add_unless_empty(std::string_view key, std::string_view text) {
        if (!text.empty()) add(key, text);
    }
    void close() { out_ += '}'; }

  private:
    std::string& out_;
    bool is_first_ = true;
};

void append_names(std::string& out, const std::vector<std::string>& names) {
    out += '[';
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) out += ',';
        append_quoted(out, names[i]);
    }
    out += ']';
}

Error broken(std::string_view what) {
    return {ErrorCode::internal, fmt::format("a stored {} cannot be read", what)};
}

/// Reads one object. Remembers the first member that is missing or of another type, so that the
/// caller asks once at the end. Every member must be asked for: one that nobody knows is damage,
/// too.
class ObjectReader {
  public:
    explicit ObjectReader(const bj::value& value) : object_(value.if_object()) {}

    const bj::value* find(std::string_view key) {
        const bj::value* value = object_ ? object_->if_contains(key) : nullptr;
        if (value) ++seen_;
        return value;
    }
    void read(std::string_view key, std::string& out) {
        const bj::value* value = find(key);
        if (!value) return miss();
        const bj::string* text = value->if_string();
        if (!text) return miss();
        out.assign(text->data(), text->size());
    }
    void read_optional(std::string_view key, std::string& out) {
        if (object_ && object_->if_contains(key)) read(key, out);
    }
    template <class Number>
    void read(std::string_view key, Number& out) {
        const bj::value* value = find(key);
        if (!value || !read_number(*value, out)) miss();
    }
    void read(std::string_view key, bool& out) {
        const bj::value* value = find(key);
        const bool* flag = value ? value->if_bool() : nullptr;
        if (!flag) return miss();
        out = *flag;
    }
    template <class Word>
    void read_word(std::string_view key, Word& out) {
        const bj::value* value = find(key);
        if (!value || !sqlite::read_word(*value, out)) miss();
    }
    void read(std::string_view key, std::vector<std::string>& out) {
        const bj::value* value = find(key);
        if (!value || !read_names(*value, out)) miss();
    }

    bool is_whole() const { return is_whole_ && object_ && seen_ == object_->size(); }
    void miss() { is_whole_ = false; }

    static bool read_names(const bj::value& value, std::vector<std::string>& out) {
        const bj::array* array = value.if_array();
        if (!array) return false;
        out.clear();
        for (const bj::value& item : *array) {
            const bj::string* text = item.if_string();
            if (!text) return false;
            out.emplace_back(text->data(), text->size());
        }
        return true;
    }

  private:
    const bj::object* object_;
    std::size_t seen_ = 0;
    bool is_whole_ = true;
};

/// Parses with a buffer on the stack: most of these texts are a few hundred bytes.
template <class Read>
Result<void> parse_with(std::string_view text, std::string_view what, Read read) {
    unsigned char buffer[4096];
    bj::monotonic_resource memory(buffer, sizeof buffer);
    boost::system::error_code failed;
    const bj::value value = bj::parse({text.data(), text.size()}, failed, &memory);
    if (failed || !read(value)) return broken(what);
    return {};
}

/// Writes one array, item by item.
class ArrayWriter {
  public:
    explicit ArrayWriter(std::string& out) : out_(out) { out_ += '['; }

    void next() {
        if (!is_first_) out_ += ',';
        is_first_ = false;
    }
    void add(std::string_view text) {
        next();
        append_quoted(out_, text);
    }
    void add(std::int64_t number) {
        next();
        append_number(out_, number);
    }
    void add_flag(bool flag) {
        next();
        out_ += flag ? "true" : "false";
    }
    void add(const std::vector<std::string>& names) {
        next();
        append_names(out_, names);
    }
    void close() { out_ += ']'; }

  private:
    std::string& out_;
    bool is_first_ = true;
};

/// Reads one array of an exact length, item by item.
class ArrayReader {
  public:
    ArrayReader(const bj::value& value, std::size_t size) : array_(value.if_array()) {
        is_whole_ = array_ && array_->size() == size;
    }

    const bj::value* next() { return is_whole_ ? &(*array_)[at_++] : nullptr; }
    void read(std::string& out) {
        const bj::value* value = next();
        const bj::string* text = value ? value->if_string() : nullptr;
        if (!text) return miss();
        out.assign(text->data(), text->size());
    }
    template <class Number>
    void read(Number& out) {
        const bj::value* value = next();
        if (!value || !read_number(*value, out)) miss();
    }
    void read(bool& out) {
        const bj::value* value = next();
        const bool* flag = value ? value->if_bool() : nullptr;
        if (!flag) return miss();
        out = *flag;
    }
    template <class Word>
    void read_word(Word& out) {
        const bj::value* value = next();
        if (!value || !sqlite::read_word(*value, out)) miss();
    }
    void read(std::vector<std::string>& out) {
        const bj::value* value = next();
        if (!value || !ObjectReader::read_names(*value, out)) miss();
    }
    bool is_whole() const { return is_whole_ && at_ == array_->size(); }
    void miss() { is_whole_ = false; }

  private:
    const bj::array* array_;
    std::size_t at_ = 0;
    bool is_whole_ = false;
};

bool read_line(const bj::value& value, core::RequirementLine& line) {
    const bool has_others = value.is_array() && value.get_array().size() == 5;
    ArrayReader reader(value, has_others ? 5 : 4);
    reader.read(line.group);
    reader.read(line.people);
    reader.read(line.quorum);
    reader.read(line.have);
    if (has_others) reader.read(line.other_groups);
    return reader.is_whole();
}

bool read_lines(const bj::value* value, std::vector<core::RequirementLine>& lines) {
    const bj::array* array = value ? value->if_array() : nullptr;
    if (!array) return false;
    lines.clear();
    for (const bj::value& item : *array)
        if (!read_line(item, lines.emplace_back())) return false;
    return true;
}

}  // namespace

// Requirement and timing are in every row, so they are arrays, which take a third of the room.

std::string encode(const core::Requirement& requirement) {
    std::string out;
    out.reserve(96);
    ArrayWriter array(out);
    array.next();
    out += '[';
    for (std::size_t i = 0; i < requirement.lines.size(); ++i) {
        const core::RequirementLine& line = requirement.lines[i];
        if (i > 0) out += ',';
        ArrayWriter item(out);
        item.add(line.group);
        item.add(line.people);
        item.add(line.quorum);
        item.add(line.have);
        if (!line.other_groups.empty()) item.add(line.other_groups);
        item.close();
    }
    out += ']';
    array.add(requirement.reject_threshold);
    array.add_flag(requirement.reason_required);
    array.add_flag(requirement.modifiable);
    array.add_flag(requirement.exclude_requester);
    array.add_flag(requirement.confirm_required);
    array.close();
    return out;
}

Result<void> decode(std::string_view text, core::Requirement& requirement) {
    return parse_with(text, "requirement", [&](const bj::value& value) {
        ArrayReader reader(value, 6);
        if (!read_lines(reader.next(), requirement.lines)) return false;
        reader.read(requirement.reject_threshold);
        reader.read(requirement.reason_required);
        reader.read(requirement.modifiable);
        reader.read(requirement.exclude_requester);
        reader.read(requirement.confirm_required);
        return reader.is_whole();
    });
}

std::string encode(const core::Timing& timing) {
    std::string out;
    out.reserve(96);
    ArrayWriter array(out);
    array.add(timing.timeout_ms);
    array.add(to_string(timing.on_timeout));
    array.add(to_string(timing.approve_risk_max));
    array.add(timing.default_decision.text);
    array.add(timing.remind_every_ms);
    array.add(timing.reminders_max);
    array.add(timing.reminders_sent);
    array.add(timing.escalate_after_ms);
    array.add(timing.escalate_to);
    array.add_flag(timing.is_escalated);
    array.add(timing.retries_max);
    array.add(timing.retries_done);
    if (timing.shifted_ms != 0) array.add(timing.shifted_ms);
    array.close();
    return out;
}

Result<void> decode(std::string_view text, core::Timing& timing) {
    return parse_with(text, "timing", [&](const bj::value& value) {
        const bool is_shifted = value.is_array() && value.get_array().size() == 13;
        ArrayReader reader(value, is_shifted ? 13 : 12);
        reader.read(timing.timeout_ms);
        reader.read_word(timing.on_timeout);
        reader.read_word(timing.approve_risk_max);
        reader.read(timing.default_decision.text);
        reader.read(timing.remind_every_ms);
        reader.read(timing.reminders_max);
        reader.read(timing.reminders_sent);
        reader.read(timing.escalate_after_ms);
        reader.read(timing.escalate_to);
        reader.read(timing.is_escalated);
        reader.read(timing.retries_max);
        reader.read(timing.retries_done);
        timing.shifted_ms = 0;
        if (is_shifted) reader.read(timing.shifted_ms);
        return reader.is_whole();
    });
}

std::string encode(const core::Decision& decision) {
    std::string out;
    out.reserve(256);
    ObjectWriter object(out);
    object.add("kind", to_string(decision.kind));
    object.add("by_id", decision.by_id.text());
    object.add("at", decision.at.ms);
    object.add_unless_empty("by", decision.by);
    object.add_unless_empty("via", decision.via);
    object.add_unless_empty("address", decision.address);
    object.add_unless_empty("digest", decision.digest);
    object.add_unless_empty("note", decision.note);
    object.add_unless_empty("reason", decision.reason);
    object.add_unless_empty("guidance", decision.guidance);
    object.add_unless_empty("target", decision.target);
    object.add_unless_empty("replacement", decision.replacement.text);
    object.add_unless_empty("answer", decision.answer.text);
    object.close();
    return out;
}

Result<void> decode(std::string_view text, core::Decision& decision) {
    return parse_with(text, "decision", [&](const bj::value& value) {
        ObjectReader reader(value);
        std::string by_id;
        reader.read_word("kind", decision.kind);
        reader.read("by_id", by_id);
        reader.read("at", decision.at.ms);
        reader.read_optional("by", decision.by);
        reader.read_optional("via", decision.via);
        reader.read_optional("address", decision.address);
        reader.read_optional("digest", decision.digest);
        reader.read_optional("note", decision.note);
        reader.read_optional("reason", decision.reason);
        reader.read_optional("guidance", decision.guidance);
        reader.read_optional("target", decision.target);
        reader.read_optional("replacement", decision.replacement.text);
        reader.read_optional("answer", decision.answer.text);
        const std::optional<PrincipalId> id = PrincipalId::parse(by_id);
        if (!id || !reader.is_whole()) return false;
        decision.by_id = *id;
        return true;
    });
}

std::string encode(const core::VerdictRecord& verdict) {
    std::string out;
    ObjectWriter object(out);
    object.add("kind", to_string(verdict.kind));
    object.add_unless_empty("rule", verdict.rule);
    object.add_unless_empty("gate", verdict.gate);
    object.add_unless_empty("because", verdict.because);
    object.add_unless_empty("policy", verdict.policy);
    object.close();
    return out;
}

Result<void> decode(std::string_view text, core::VerdictRecord& verdict) {
    return parse_with(text, "verdict", [&](const bj::value& value) {
        ObjectReader reader(value);
        reader.read_word("kind", verdict.kind);
        reader.read_optional("rule", verdict.rule);
        reader.read_optional("gate", verdict.gate);
        reader.read_optional("because", verdict.because);
        reader.read_optional("policy", verdict.policy);
        return reader.is_whole();
    });
}

std::string encode(const core::Report& report) {
    std::string out;
    ObjectWriter object(out);
    object.add_flag("is_success", report.is_success);
    object.add("at", report.at.ms);
    object.add_unless_empty("result", report.result.text);
    object.add_unless_empty("error", report.error);
    object.close();
    return out;
}

Result<void> decode(std::string_view text, core::Report& report) {
    return parse_with(text, "report", [&](const bj::value& value) {
        ObjectReader reader(value);
        reader.read("is_success", report.is_success);
        reader.read("at", report.at.ms);
        reader.read_optional("result", report.result.text);
        reader.read_optional("error", report.error);
        return reader.is_whole();
    });
}

namespace {

std::string encode_hold(const core::Held& held) {
    const core::DecisionCommand& command = held.command;
    std::string out;
    ObjectWriter object(out);
    object.add("kind", to_string(command.kind));
    object.add("digest", command.digest);
    object.add("by_id", held.person.id.text());
    object.add("by", held.person.name);
    object.name("groups");
    append_names(out, held.person.groups);
    object.add("at", held.at.ms);
    object.add("until", held.until.ms);
    object.add_unless_empty("via", held.person.via);
    object.add_unless_empty("address", held.person.address);
    object.add_unless_empty("note", command.note);
    object.add_unless_empty("reason", command.reason);
    object.add_unless_empty("guidance", command.guidance);
    object.add_unless_empty("target", command.target);
    object.add_unless_empty("replacement", command.replacement.text);
    if (command.replacement_kind) object.add("of", to_string(*command.replacement_kind));
    object.add_unless_empty("answer", command.answer.text);
    object.add_unless_empty("confirm", command.confirm);
    object.add_unless_empty("proof", command.proof.text);
    if (command.approved_steps) {
        object.name("steps");
        ArrayWriter steps(out);
        for (const int step : *command.approved_steps) steps.add(step);
        steps.close();
    }
    object.close();
    return out;
}

bool read_steps(const bj::value& value, std::vector<int>& steps) {
    const bj::array* array = value.if_array();
    if (!array) return false;
    for (const bj::value& item : *array)
        if (!read_number(item, steps.emplace_back())) return false;
    return true;
}

bool decode_hold(const bj::value& value, core::Held& held) {
    ObjectReader reader(value);
    core::DecisionCommand& command = held.command;
    std::string by_id;
    std::string of;
    reader.read_word("kind", command.kind);
    reader.read("digest", command.digest);
    reader.read("by_id", by_id);
    reader.read("by", held.person.name);
    reader.read("groups", held.person.groups);
    reader.read("at", held.at.ms);
    reader.read("until", held.until.ms);
    reader.read_optional("via", held.person.via);
    reader.read_optional("address", held.person.address);
    reader.read_optional("note", command.note);
    reader.read_optional("reason", command.reason);
    reader.read_optional("guidance", command.guidance);
    reader.read_optional("target", command.target);
    reader.read_optional("replacement", command.replacement.text);
    reader.read_optional("of", of);
    reader.read_optional("answer", command.answer.text);
    reader.read_optional("confirm", command.confirm);
    reader.read_optional("proof", command.proof.text);
    // Said by holds of earlier versions; what it meant holds for every approval without a digest.
    if (bool is_said = false; value.is_object() && value.get_object().contains("as_proposed"))
        reader.read("as_proposed", is_said);
    if (const bj::value* steps = reader.find("steps");
        steps && !read_steps(*steps, command.approved_steps.emplace()))
        return false;
    if (!of.empty()) {
        command.replacement_kind = core::parse_word<core::Kind>(of);
        if (!command.replacement_kind) return false;
    }
    const std::optional<PrincipalId> id = PrincipalId::parse(by_id);
    if (!id || !reader.is_whole()) return false;
    held.person.id = *id;
    return true;
}

}  // namespace

std::string encode(const std::vector<core::Held>& holds) {
    std::string out = "[";
    for (std::size_t i = 0; i < holds.size(); ++i) {
        if (i > 0) out += ',';
        out += encode_hold(holds[i]);
    }
    return out + ']';
}

Result<void> decode(std::string_view text, std::vector<core::Held>& holds) {
    return parse_with(text, "held decision", [&](const bj::value& value) {
        const bj::array* array = value.if_array();
        if (!array || array->empty()) return false;
        for (const bj::value& item : *array)
            if (!decode_hold(item, holds.emplace_back())) return false;
        return true;
    });
}

std::string encode(const std::vector<std::string>& names) {
    std::string out;
    append_names(out, names);
    return out;
}

Result<void> decode(std::string_view text, std::vector<std::string>& names) {
    return parse_with(text, "list of names", [&](const bj::value& value) {
        return ObjectReader::read_names(value, names);
    });
}

}  // namespace holdpoint::store::sqlite
