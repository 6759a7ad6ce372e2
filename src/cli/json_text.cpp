#include "cli/json_text.h"

#include <fmt/format.h>

#include "base/text.h"

namespace holdpoint::cli {
namespace {

void append_unit(std::string& out, unsigned unit) { out += fmt::format("\\u{:04x}", unit); }

void append_escaped(std::string& out, char32_t c) {
    if (c < 0x10000) return append_unit(out, c);
    append_unit(out, 0xd800 + ((c - 0x10000) >> 10));
    append_unit(out, 0xdc00 + ((c - 0x10000) & 0x3ff));
}

void append_string(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const CodePoint c = first_code_point(text);
        const std::string_view bytes = text.substr(0, c.bytes > 0 ? c.bytes : 1);
        text.remove_prefix(bytes.size());
        if (c.bytes == 0) {
            out += "\\ufffd";
        } else if (c.value == '"' || c.value == '\\') {
            out += '\\';
            out += bytes;
        } else if (c.value == '\n') {
            out += "\\n";
        } else if (c.value == '\t') {
            out += "\\t";
        } else if (visible(bytes) != bytes) {
            append_escaped(out, c.value);
        } else {
            out += bytes;
        }
    }
    out += '"';
}

class Writer {
  public:
    explicit Writer(bool is_pretty) : is_pretty_(is_pretty) {}

    void write(const json::value& value) {
        switch (value.kind()) {
            case boost::json::kind::null:
                out += "null";
                break;
            case boost::json::kind::bool_:
                out += value.get_bool() ? "true" : "false";
                break;
            case boost::json::kind::int64:
                out += std::to_string(value.get_int64());
                break;
            case boost::json::kind::uint64:
                out += std::to_string(value.get_uint64());
                break;
            case boost::json::kind::double_:
                json::append_number(out, value.get_double());
                break;
            case boost::json::kind::string:
                append_string(out, value.get_string());
                break;
            case boost::json::kind::array:
                write_array(value.get_array());
                break;
            case boost::json::kind::object:
                write_object(value.get_object());
                break;
        }
    }

    std::string out;

  private:
    void write_array(const json::array& array) {
        if (array.empty()) {
            out += "[]";
            return;
        }
        open('[');
        bool is_first = true;
        for (const json::value& item : array) {
            next(is_first);
            write(item);
        }
        close(']');
    }
    void write_object(const json::object& object) {
        if (object.empty()) {
            out += "{}";
            return;
        }
        open('{');
        bool is_first = true;
        for (const auto& item : object) {
            next(is_first);
            append_string(out, item.key());
            out += is_pretty_ ? ": " : ":";
            write(item.value());
        }
        close('}');
    }
    void open(char bracket) {
        out += bracket;
        ++depth_;
    }
    void next(bool& is_first) {
        if (!is_first) out += ',';
        is_first = false;
        new_line();
    }
    void close(char bracket) {
        --depth_;
        new_line();
        out += bracket;
    }
    void new_line() {
        if (!is_pretty_) return;
        out += '\n';
        out.append(2 * depth_, ' ');
    }

    bool is_pretty_;
    std::size_t depth_ = 0;
};

const json::value null_value;

}  // namespace

std::string compact(const json::value& value) {
    Writer writer(false);
    writer.write(value);
    return std::move(writer.out);
}

std::string pretty(const json::value& value) {
    Writer writer(true);
    writer.write(value);
    return std::move(writer.out);
}

const json::value& member(const json::value& value, std::string_view key) {
    const json::object* object = value.if_object();
    if (object == nullptr) return null_value;
    const json::value* found = object->if_contains(key);
    return found != nullptr ? *found : null_value;
}

std::string text_of(const json::value& value, std::string_view key, std::string_view fallback) {
    const boost::json::string* text = member(value, key).if_string();
    return text != nullptr ? std::string(*text) : std::string(fallback);
}

std::optional<double> number_of(const json::value& value, std::string_view key) {
    const json::value& number = member(value, key);
    if (number.is_int64()) return static_cast<double>(number.get_int64());
    if (number.is_double()) return number.get_double();
    return std::nullopt;
}

std::string whole_of(const json::value& value, std::string_view key) {
    return fmt::format("{:.0f}", number_of(value, key).value_or(0));
}

bool is_true(const json::value& value, std::string_view key) {
    const bool* flag = member(value, key).if_bool();
    return flag != nullptr && *flag;
}

std::optional<Timestamp> time_of(const json::value& value, std::string_view key) {
    const std::string text = text_of(value, key);
    if (text.empty()) return std::nullopt;
    const Result<Timestamp> time = parse_timestamp(text);
    if (!time) return std::nullopt;
    return *time;
}

}  // namespace holdpoint::cli
