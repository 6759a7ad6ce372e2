#include "policy/cel/lexer.h"

#include <array>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/text.h"
#include "policy/cel/utf8.h"

namespace holdpoint::cel {
namespace {

using ascii::is_digit;
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

int hex_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

class Lexer {
  public:
    Lexer(std::string_view source, std::vector<Token>& tokens) : source_(source), tokens_(tokens) {}

    std::optional<Complaint> run() {
        while (!complaint_) {
            skip_space();
            if (at_ == source_.size()) {
                add(TokenKind::end, at_, "");
                break;
            }
            read_token();
        }
        return std::move(complaint_);
    }

  private:
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
    }

    void add(TokenKind kind, std::size_t begin, std::string text) {
        tokens_.push_back({kind,
                           {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)},
                           std::move(text)});
    }

    void fail(std::size_t offset, std::string message) {
        if (!complaint_) {
            complaint_ = Complaint{static_cast<std::uint32_t>(offset), std::move(message)};
        }
    }

    void skip_space() {
        while (at_ < source_.size()) {
            const char c = source_[at_];
            if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
                ++at_;
            } else if (c == '/' && peek(1) == '/') {
                while (at_ < source_.size() && source_[at_] != '\n') ++at_;
            } else {
                return;
            }
        }
    }

    void read_token() {
        const char c = peek();
        if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return read_number();
        if (starts_string()) return read_string();
        if (is_letter(c)) return read_name();
        if (c == '`') return read_quoted_name();
        read_symbol();
    }

    void read_name() {
        const std::size_t begin = at_;
        while (is_letter(peek()) || is_digit(peek())) ++at_;
        add(TokenKind::name, begin, std::string(source_.substr(begin, at_ - begin)));
    }

    void read_quoted_name() {
        const std::size_t begin = at_++;
        while (is_letter(peek()) || is_digit(peek()) || peek() == '.' || peek() == '-' ||
               peek() == '/' || peek() == ' ') {
            ++at_;
        }
        if (peek() != '`') {
            return fail(at_,
                        at_ == source_.size()
                            ? "the quoted name is not closed, expected ` at its end"
                            : "a quoted name has only letters, digits and `_ . - /` and space");
        }
        std::string text(source_.substr(begin + 1, at_ - begin - 1));
        if (text.empty()) return fail(begin, "a quoted name cannot be empty");
        ++at_;
        add(TokenKind::quoted_name, begin, std::move(text));
    }

    void read_symbol() {
        static constexpr std::array<std::string_view, 8> doubles = {
            "==", "!=", "<=", ">=", "&&", "||", ".?", "[?"};
        static constexpr std::string_view singles = "+-*/%!<>?:.,()[]{}";
        const std::size_t begin = at_;
        for (const std::string_view symbol : doubles) {
            if (!source_.substr(at_).starts_with(symbol)) continue;
            at_ += symbol.size();
            return add(TokenKind::symbol, begin, std::string(symbol));
        }
        if (singles.find(peek()) != singles.npos) {
            ++at_;
            return add(TokenKind::symbol, begin, std::string(1, source_[begin]));
        }
        const CodePoint point = first_code_point(source_.substr(at_));
        const std::string shown = visible(source_.substr(at_, point.bytes));
        switch (peek()) {
            case '=':
                return fail(at_, "unexpected `=`, equality is written `==`");
            case '&':
                return fail(at_, "unexpected `&`, and is written `&&`");
            case '|':
                return fail(at_, "unexpected `|`, or is written `||`");
            default:
                return fail(at_, fmt::format("unexpected character `{}`", shown));
        }
    }

    void read_number() {
        const std::size_t begin = at_;
        bool is_real = false;
        if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
            at_ += 2;
            if (hex_value(peek()) < 0) return fail(at_, "expected a hexadecimal digit after `0x`");
            while (hex_value(peek()) >= 0) ++at_;
        } else {
            while (is_digit(peek())) ++at_;
            // `1.size()` selects from an integer; a point belongs to the number before a digit
            // only.
            if (peek() == '.' && is_digit(peek(1))) {
                is_real = true;
                ++at_;
                while (is_digit(peek())) ++at_;
            }
            is_real = read_exponent() || is_real;
        }
        std::string text(source_.substr(begin, at_ - begin));
        TokenKind kind = is_real ? TokenKind::real : TokenKind::integer;
        if (!is_real && (peek() == 'u' || peek() == 'U')) {
            ++at_;
            kind = TokenKind::unsigned_integer;
        }
        if (is_letter(peek()) || is_digit(peek())) {
            return fail(at_, "a letter cannot follow a number directly");
        }
        add(kind, begin, std::move(text));
    }

    bool read_exponent() {
        if (peek() != 'e' && peek() != 'E') return false;
        const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
        if (!is_digit(peek(1 + sign))) return false;
        at_ += 1 + sign;
        while (is_digit(peek())) ++at_;
        return true;
    }

    bool starts_string() const {
        std::size_t ahead = 0;
        if (peek(ahead) == 'b' || peek(ahead) == 'B') ++ahead;
        if (peek(ahead) == 'r' || peek(ahead) == 'R') ++ahead;
        return peek(ahead) == '"' || peek(ahead) == '\'';
    }

    void read_string() {
        const std::size_t begin = at_;
        is_bytes_ = peek() == 'b' || peek() == 'B';
        if (is_bytes_) ++at_;
        const bool is_raw = peek() == 'r' || peek() == 'R';
        if (is_raw) ++at_;
        const char quote = peek();
        const bool is_triple = peek(1) == quote && peek(2) == quote;
        const std::string closing(is_triple ? 3 : 1, quote);
        at_ += closing.size();

        std::string text;
        while (!source_.substr(at_).starts_with(closing)) {
            if (at_ == source_.size()) {
                return fail(begin, fmt::format("the string is not closed, expected {} at its end",
                                               closing));
            }
            const char c = peek();
            if (!is_triple && (c == '\n' || c == '\r')) {
                return fail(at_, "a line ends inside of a string; use three quotes for such text");
            }
            if (c == '\\' && !is_raw) {
                read_escape(text);
                if (complaint_) return;
            } else {
                text += c;
                ++at_;
            }
        }
        at_ += closing.size();
        add(is_bytes_ ? TokenKind::bytes : TokenKind::string, begin, std::move(text));
    }

    void read_escape(std::string& text) {
        const std::size_t begin = at_++;
        const char c = peek();
        static constexpr std::string_view plain = "abfnrtv\\?\"'`";
        static constexpr std::string_view meant = "\a\b\f\n\r\t\v\\?\"'`";
        if (const std::size_t index = plain.find(c); c != '\0' && index != plain.npos) {
            text += meant[index];
            ++at_;
            return;
        }
        if (c >= '0' && c <= '3') return read_code(text, begin, 8, 3);
        ++at_;
        switch (c) {
            case 'x':
            case 'X':
                return read_code(text, begin, 16, 2);
            case 'u':
                return read_code(text, begin, 16, 4);
            case 'U':
                return read_code(text, begin, 16, 8);
            default:
                return fail(begin, "unknown escape after `\\`; a backslash is written `\\\\`");
        }
    }

    void read_code(std::string& text, std::size_t begin, int base, int digits) {
        std::uint32_t code = 0;
        for (int i = 0; i < digits; ++i, ++at_) {
            const int digit = hex_value(peek());
            if (digit < 0 || digit >= base) {
                return fail(at_, fmt::format("expected {} {} digits in the escape", digits,
                                             base == 8 ? "octal" : "hexadecimal"));
            }
            code = code * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(digit);
        }
        if (is_bytes_) {
            if (digits >= 4) return fail(begin, "`\\u` and `\\U` are for strings, not for bytes");
            text += static_cast<char>(code);
        } else if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
            fail(begin, "the escape is not a Unicode character");
        } else {
            append_utf8(text, code);
        }
    }

    std::string_view source_;
    std::vector<Token>& tokens_;
    std::size_t at_ = 0;
    bool is_bytes_ = false;
    std::optional<Complaint> complaint_;
};

}  // namespace

std::optional<Complaint> tokenize(std::string_view source, std::vector<Token>& tokens) {
    if (const std::size_t valid = utf8_prefix(source); valid < source.size()) {
        return Complaint{static_cast<std::uint32_t>(valid), "the text is not UTF-8"};
    }
    return Lexer(source, tokens).run();
}

}  // namespace holdpoint::cel
