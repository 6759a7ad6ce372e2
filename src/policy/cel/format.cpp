#include "policy/cel/format.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/cel/address.h"
#include "policy/cel/moment.h"
#include "policy/cel/number_text.h"

namespace holdpoint::cel {
namespace {

constexpr int precision_default = 6;
constexpr int precision_max = 100;
constexpr int written_depth_max = 32;

class Formatter {
  public:
    Formatter(Call& call, std::string_view pattern, const Value& arguments)
        : call_(call), pattern_(pattern), arguments_(arguments) {}

    Value run() {
        while (at_ < pattern_.size() && !error_.is_error()) {
            const std::size_t percent = pattern_.find('%', at_);
            out_ += pattern_.substr(at_, percent - at_);
            if (percent == pattern_.npos) break;
            at_ = percent + 1;
            clause();
        }
        if (error_.is_error()) return error_;
        if (!call_.charge(out_.size() / 16)) return {};
        return Value::string(call_.arena().copy(out_));
    }

  private:
    void fail(std::string_view message) {
        if (!error_.is_error()) error_ = call_.fail(Fault::invalid_argument, message);
    }

    void clause() {
        if (at_ == pattern_.size()) return fail("the format ends after `%`");
        if (pattern_[at_] == '%') {
            out_ += '%';
            ++at_;
            return;
        }
        const int precision = read_precision();
        if (error_.is_error()) return;
        if (at_ == pattern_.size()) return fail("the format ends inside of a clause");
        const char verb = pattern_[at_++];
        if (std::string_view("sdfexXob").find(verb) == std::string_view::npos) {
            return fail(
                fmt::format("unknown formatting clause `{}`", visible(std::string_view(&verb, 1))));
        }
        if (next_ >= arguments_.size()) {
            return fail(fmt::format("there is no argument with index {}", next_));
        }
        const Value value = arguments_.element(next_++, call_.arena());
        if (value.is_error()) {
            error_ = value;
            return;
        }
        write(verb, value, precision);
    }

    int read_precision() {
        if (pattern_[at_] != '.') return precision_default;
        int precision = 0;
        const std::size_t begin = ++at_;
        for (; at_ < pattern_.size() && pattern_[at_] >= '0' && pattern_[at_] <= '9'; ++at_) {
            precision = std::min(precision * 10 + (pattern_[at_] - '0'), precision_max + 1);
        }
        if (at_ == begin) fail("the precision has no digits");
        if (precision > precision_max) fail("the precision is too large");
        return precision;
    }

    void write(char verb, const Value& value, int precision) {
        switch (verb) {
            case 's':
                return write_text(out_, value, 0);
            case 'd':
                if (value.is_numeric()) return write_text(out_, value, 0);
                return wrong_kind("%d is for numbers", value);
            case 'f':
            case 'e':
                return write_real(verb, value, precision);
            case 'b':
                if (value.kind() == Kind::boolean) {
                    out_ += value.as_boolean() ? '1' : '0';
                    return;
                }
                return write_whole(value, 2, false, "%b is for whole numbers and booleans");
            case 'o':
                return write_whole(value, 8, false, "%o is for whole numbers");
            default:
                return write_hex(value, verb == 'X');
        }
    }

    void wrong_kind(std::string_view what, const Value& value) {
        fail(fmt::format("{}, not for {}", what, name_of(value.kind())));
    }

    void write_real(char verb, const Value& value, int precision) {
        double number = 0;
        switch (value.kind()) {
            case Kind::integer:
                number = static_cast<double>(value.as_integer());
                break;
            case Kind::unsigned_integer:
                number = static_cast<double>(value.as_unsigned());
                break;
            case Kind::real:
                number = value.as_real();
                break;
            default:
                return wrong_kind(verb == 'f' ? "%f is for numbers" : "%e is for numbers", value);
        }
        if (!std::isfinite(number)) {
            out_ += number_text(number);
        } else if (verb == 'f') {
            out_ += fmt::format("{:.{}f}", number, precision);
        } else {
            out_ += fmt::format("{:.{}e}", number, precision);
        }
    }

    void write_whole(const Value& value, int base, bool is_upper, std::string_view what) {
        std::uint64_t number = value.as_unsigned();
        if (value.kind() == Kind::integer && value.as_integer() < 0) {
            out_ += '-';
            number = 0 - number;
        } else if (value.kind() != Kind::integer && value.kind() != Kind::unsigned_integer) {
            return wrong_kind(what, value);
        }
        switch (base) {
            case 2:
                out_ += fmt::format("{:b}", number);
                break;
            case 8:
                out_ += fmt::format("{:o}", number);
                break;
            default:
                out_ += is_upper ? fmt::format("{:X}", number) : fmt::format("{:x}", number);
        }
    }

    void write_hex(const Value& value, bool is_upper) {
        if (value.kind() != Kind::string && value.kind() != Kind::bytes) {
            return write_whole(value, 16, is_upper, "%x is for whole numbers, strings and bytes");
        }
        if (!call_.charge(value.as_text().size() / 8)) return;
        const char* digits = is_upper ? "0123456789ABCDEF" : "0123456789abcdef";
        for (const char c : value.as_text()) {
            const auto octet = static_cast<unsigned char>(c);
            out_ += digits[octet >> 4];
            out_ += digits[octet & 15];
        }
    }

    /// What `%s` gives; lists and maps in full, with the same for what they hold.
    void write_text(std::string& out, const Value& value, int depth) {
        if (depth > written_depth_max) return fail("the value is nested too deep to be written");
        if (!call_.charge(1)) return;
        switch (value.kind()) {
            case Kind::null:
                out += "null";
                break;
            case Kind::boolean:
                out += value.as_boolean() ? "true" : "false";
                break;
            case Kind::integer:
                out += fmt::format_int(value.as_integer()).c_str();
                break;
            case Kind::unsigned_integer:
                out += fmt::format_int(value.as_unsigned()).c_str();
                break;
            case Kind::real:
                out += number_text(value.as_real());
                break;
            case Kind::string:
                if (call_.charge(value.as_text().size() / 32)) out += value.as_text();
                break;
            case Kind::type:
                out += value.as_text();
                break;
            case Kind::bytes:
                write_bytes(out, value.as_text());
                break;
            case Kind::timestamp:
                out += to_string(value.as_timestamp());
                break;
            case Kind::duration:
                out += duration_text(value.as_duration_ns());
                break;
            case Kind::ip:
            case Kind::cidr:
                out += to_string(value.as_address());
                break;
            case Kind::list:
                write_list(out, value, depth + 1);
                break;
            case Kind::map:
                write_map(out, value, depth + 1);
                break;
            case Kind::optional:
                wrong_kind("%s has no text", value);
                break;
            case Kind::error:
                error_ = value;
                break;
            case Kind::absent:
                fail("the value is missing");
                break;
        }
    }

    void write_bytes(std::string& out, std::string_view bytes) {
        if (!call_.charge(bytes.size() / 32)) return;
        bool was_valid = true;
        while (!bytes.empty()) {
            const std::size_t valid = utf8_prefix(bytes);
            out += bytes.substr(0, valid);
            was_valid = was_valid || valid > 0;
            bytes.remove_prefix(valid);
            if (bytes.empty()) break;
            // One mark for a whole run of bytes that are no text.
            if (was_valid) out += "\xef\xbf\xbd";
            was_valid = false;
            bytes.remove_prefix(1);
        }
    }

    void write_list(std::string& out, const Value& list, int depth) {
        out += '[';
        for (std::size_t i = 0; i < list.size() && !error_.is_error(); ++i) {
            if (i > 0) out += ", ";
            write_text(out, list.element(i, call_.arena()), depth);
            if (!call_.charge(0)) return;
        }
        out += ']';
    }

    void write_map(std::string& out, const Value& map, int depth) {
        std::vector<std::pair<std::string, std::string>> entries(map.size());
        for (std::size_t i = 0; i < entries.size() && !error_.is_error(); ++i) {
            const MapEntry entry = map.entry(i, call_.arena());
            write_text(entries[i].first, entry.key, depth);
            write_text(entries[i].second, entry.value, depth);
            if (!call_.charge(0)) return;
        }
        std::ranges::sort(entries);
        out += '{';
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (i > 0) out += ", ";
            out += entries[i].first;
            out += ": ";
            out += entries[i].second;
        }
        out += '}';
    }

    Call& call_;
    std::string_view pattern_;
    const Value& arguments_;
    std::size_t at_ = 0;
    std::size_t next_ = 0;
    std::string out_;
    Value error_;
};

}  // namespace

Value format_text(Call& call, std::string_view pattern, const Value& arguments) {
    return Formatter(call, pattern, arguments).run();
}

}  // namespace holdpoint::cel
