#include "agent/feedback/shell_words.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"

namespace holdpoint::agent::feedback {
namespace {

constexpr int nesting_max = 8;

using ascii::is_digit;
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name(char c) { return is_name_start(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// `NAME=` at the front of a word.
bool is_assignment(std::string_view word) {
    if (word.empty() || !is_name_start(word[0])) return false;
    const std::size_t end = std::ranges::find_if_not(word, is_name) - word.begin();
    return word.substr(end).starts_with('=') || word.substr(end).starts_with("+=");
}

bool begins_more(std::string_view word) {
    constexpr std::string_view words[] = {"if",    "then",  "elif", "else",
                                          "while", "until", "do",   "!"};
    return std::ranges::find(words, word) != std::end(words);
}

class Reader {
  public:
    Reader(std::string_view text, int depth) : text_(text), depth_(depth) {}

    std::optional<std::vector<SimpleCommand>> read() {
        while (!has_failed_ && at_ < text_.size()) step();
        end_word();
        if (has_failed_ || !target_of_.empty() || open_parentheses_ != 0) return std::nullopt;
        end_command("");
        return std::move(commands_);
    }

  private:
    void step();
    void operate(char c);
    void redirect();
    void parenthesis(char c);
    void single_quoted();
    void double_quoted();
    void ansi_quoted();
    void backslash();
    void dollar();
    void parameter();
    void substitution(std::string_view opening);
    void arithmetic();
    void backtick();
    void comment();
    void nested(std::string_view opening, std::string_view inner);
    std::optional<std::size_t> closing_parenthesis(std::size_t from) const;

    void literal(std::string_view text) {
        append_literal(word_, text);
        has_word_ = true;
    }
    void active(std::string_view text) {
        word_ += active_mark;
        word_ += text;
        has_word_ = true;
    }
    void fail() { has_failed_ = true; }
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }
    void end_word();
    void end_command(std::string_view how);

    std::string_view text_;
    int depth_;
    std::size_t at_ = 0;
    std::string word_;
    bool has_word_ = false;
    bool is_quoted_ = false;  // the word holds a quote or backslash: no number, no brace
    std::string target_of_;   // the redirection that waits for its target
    SimpleCommand command_;
    std::vector<SimpleCommand> commands_;
    int open_parentheses_ = 0;
    bool has_failed_ = false;
};

void Reader::step() {
    const char c = text_[at_];
    if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n') return fail();
    switch (c) {
        case ' ':
        case '\t':
            ++at_;
            return end_word();
        case '\'':
            return single_quoted();
        case '"':
            return double_quoted();
        case '\\':
            return backslash();
        case '$':
            return dollar();
        case '`':
            return backtick();
        case '#':
            if (!has_word_) return comment();
            break;
        case '<':
        case '>':
            return redirect();
        case '(':
        case ')':
            return parenthesis(c);
        case ';':
        case '&':
        case '|':
        case '\n':
            return operate(c);
        case '~':
            if (has_word_) break;
            [[fallthrough]];
        case '*':
        case '?':
        case '[':
        case '{':
        case '}':
            ++at_;
            return active({&c, 1});
        default:
            break;
    }
    ++at_;
    word_ += c;
    has_word_ = true;
    // The mark itself, met as text: its last byte is where it is complete.
    if (word_.ends_with(active_mark)) word_ += active_mark;
}

void Reader::comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

void Reader::single_quoted() {
    const std::size_t end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) return fail();
    literal(text_.substr(at_ + 1, end - at_ - 1));
    is_quoted_ = true;
    at_ = end + 1;
}

void Reader::double_quoted() {
    has_word_ = is_quoted_ = true;
    ++at_;
    std::size_t plain = at_;
    const auto take = [&] { literal(text_.substr(plain, at_ - plain)); };
    while (!has_failed_) {
        if (at_ >= text_.size()) return fail();
        const char c = text_[at_];
        if (c != '"' && c != '\\' && c != '$' && c != '`') {
            ++at_;
            continue;
        }
        take();
        if (c == '"') {
            ++at_;
            return;
        }
        if (c == '$') {
            dollar();
        } else if (c == '`') {
            backtick();
        } else if (const char next = peek(1); next == '\n') {
            at_ += 2;
        } else if (next != '\0' && std::string_view("$`\"\\").contains(next)) {
            literal({&next, 1});
            at_ += 2;
        } else {
            literal("\\");
            ++at_;
        }
        plain = at_;
    }
}

void Reader::backslash() {
    if (at_ + 1 >= text_.size()) return fail();
    if (peek(1) != '\n') {
        // Byte by byte: what follows in a longer character is an ordinary part of the word.
        word_ += peek(1);
        has_word_ = is_quoted_ = true;
    }
    at_ += 2;
}

void Reader::ansi_quoted() {
    at_ += 2;
    has_word_ = is_quoted_ = true;
    std::string text;
    while (at_ < text_.size() && text_[at_] != '\'') {
        if (text_[at_] != '\\') {
            text += text_[at_++];
            continue;
        }
        const char kind = peek(1);
        at_ += 2;
        const std::string_view plain = "\\'\"?";
        const std::string_view letters = "ntrabfveE";
        const std::string_view meanings = "\n\t\r\a\b\f\v\x1b\x1b";
        if (plain.contains(kind)) {
            text += kind;
        } else if (const std::size_t letter = letters.find(kind);
                   kind != '\0' && letter != std::string_view::npos) {
            text += meanings[letter];
        } else {
            return fail();  // numbers: rare enough to compare them as they stand
        }
    }
    if (at_ >= text_.size()) return fail();
    ++at_;
    literal(text);
}

void Reader::dollar() {
    const char next = peek(1);
    if (next == '\'') return ansi_quoted();
    if (next == '(') return peek(2) == '(' ? arithmetic() : substitution("$(");
    if (next == '{') return parameter();
    if (next == '"') {
        ++at_;  // a translated string is a string
        return;
    }
    if (is_name_start(next)) {
        std::size_t end = at_ + 1;
        while (end < text_.size() && is_name(text_[end])) ++end;
        const std::string name(text_.substr(at_ + 1, end - at_ - 1));
        const bool is_home = name == "HOME" && word_.empty();
        at_ = end;
        return is_home ? active("~") : active("${" + name + "}");
    }
    if (next != '\0' && (is_digit(next) || std::string_view("@*#?$!-_").contains(next))) {
        at_ += 2;
        return active(std::string("${") + next + "}");
    }
    ++at_;
    literal("$");
}

void Reader::parameter() {
    int depth = 0;
    for (std::size_t end = at_ + 1; end < text_.size(); ++end) {
        const char c = text_[end];
        if (c == '\\' || c == '\'' || c == '"' || c == '`') return fail();
        if (c == '{') ++depth;
        if (c == '}' && --depth == 0) {
            const std::string inner(text_.substr(at_ + 2, end - at_ - 2));
            const bool is_home = inner == "HOME" && word_.empty();
            at_ = end + 1;
            return is_home ? active("~") : active("${" + inner + "}");
        }
    }
    fail();
}

/// Where the parenthesis that is open at `from` closes, quotes honoured.
std::optional<std::size_t> Reader::closing_parenthesis(std::size_t from) const {
    int depth = 1;
    char quote = 0;
    for (std::size_t at = from; at < text_.size(); ++at) {
        const char c = text_[at];
        if (c == '\\' && quote != '\'') {
            ++at;
        } else if (quote != 0) {
            if (c == quote) quote = 0;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '(') {
            ++depth;
        } else if (c == ')' && --depth == 0) {
            return at;
        }
    }
    return std::nullopt;
}

void Reader::arithmetic() {
    const std::optional<std::size_t> end = closing_parenthesis(at_ + 2);
    if (!end) return fail();
    std::string inner(text_.substr(at_ + 2, *end - at_ - 2));
    std::erase_if(inner, [](char c) { return is_blank(c) || c == '\n'; });
    at_ = *end + 1;
    active("$(" + inner + ")");
}

void Reader::substitution(std::string_view opening) {
    const std::optional<std::size_t> end = closing_parenthesis(at_ + opening.size());
    if (!end) return fail();
    const std::size_t start = at_ + opening.size();
    at_ = *end + 1;
    nested(opening, text_.substr(start, *end - start));
}

void Reader::backtick() {
    const std::size_t end = text_.find('`', at_ + 1);
    if (end == std::string_view::npos) return fail();
    const std::string_view inner = text_.substr(at_ + 1, end - at_ - 1);
    if (inner.contains('\\')) return fail();  // backslashes count twice here
    at_ = end + 1;
    nested("$(", inner);
}

/// The text of the commands inside, in one spelling.
void Reader::nested(std::string_view opening, std::string_view inner) {
    if (depth_ >= nesting_max) return fail();
    const auto commands = Reader(inner, depth_ + 1).read();
    if (!commands) return fail();
    std::string text(opening);
    const auto append = [&](const std::string& part) {
        text += part;
        text += '\x1f';
    };
    for (const SimpleCommand& command : *commands) {
        std::ranges::for_each(command.assignments, append);
        std::ranges::for_each(command.words, append);
        std::ranges::for_each(command.redirections, append);
        append(command.followed_by);
    }
    active(text + ")");
}

void Reader::parenthesis(char c) {
    if (has_word_ && c == '(') return fail();  // a function, an array or a pattern
    end_word();
    if (!target_of_.empty()) return fail();
    ++at_;
    open_parentheses_ += c == '(' ? 1 : -1;
    if (open_parentheses_ < 0) return fail();
    end_command({&c, 1});
}

void Reader::redirect() {
    const char c = text_[at_];
    if (peek(1) == '(') {
        if (has_word_) return fail();
        return substitution(c == '<' ? "<(" : ">(");
    }
    std::string descriptor;
    const bool is_number = has_word_ && !is_quoted_ && std::ranges::all_of(word_, is_digit);
    if (is_number) {
        descriptor = std::exchange(word_, {});
        has_word_ = false;
    }
    end_word();
    if (!target_of_.empty()) return fail();
    std::size_t length = 1;
    while (length < 3 && std::string_view("<>&|").contains(peek(length)) && peek(length) != '\0') {
        ++length;
    }
    std::string how(text_.substr(at_, length));
    at_ += length;
    if (how == "<<") return fail();  // a heredoc
    for (const std::string_view known : {">", ">>", "<", "<<<", "<>", ">|", ">&", "<&"}) {
        if (how != known) continue;
        if (how == ">|") how = ">";
        if (descriptor == (how[0] == '>' ? "1" : "0")) descriptor.clear();
        target_of_ = descriptor + how;
        return;
    }
    fail();
}

void Reader::operate(char c) {
    end_word();
    if (!target_of_.empty()) return fail();
    if (c == '&' && peek(1) == '>') {
        at_ += peek(2) == '>' ? 3 : 2;
        target_of_ = text_[at_ - 2] == '>' ? "&>>" : "&>";
        return;
    }
    const bool is_double = (c == '&' || c == '|' || c == ';') && peek(1) == c;
    const bool is_both = c == '|' && peek(1) == '&';
    at_ += is_double || is_both ? 2 : 1;
    std::string how = c == '\n' ? ";" : std::string(1, c);
    if (is_double) how += c;
    if (is_both) how += '&';
    end_command(how);
}

void Reader::end_word() {
    if (!has_word_) return;
    std::string word = std::exchange(word_, {});
    has_word_ = false;
    const bool was_quoted = std::exchange(is_quoted_, false);
    if (!target_of_.empty()) {
        const bool is_descriptor = std::ranges::all_of(word, is_digit) || word == "-";
        if (target_of_ == ">&" && !is_descriptor) target_of_ = "&>";
        command_.redirections.push_back(std::exchange(target_of_, {}) + ' ' + word);
        return;
    }
    const std::string mark(active_mark);
    if (!was_quoted && (word == mark + "{" || word == mark + "}")) {
        return end_command(word.substr(mark.size()));
    }
    if (command_.words.empty() && is_assignment(word)) {
        command_.assignments.push_back(std::move(word));
    } else {
        command_.words.push_back(std::move(word));
    }
}

void Reader::end_command(std::string_view how) {
    const bool is_empty =
        command_.words.empty() && command_.assignments.empty() && command_.redirections.empty();
    const bool is_sequence = how == ";" || how.empty();
    if (is_empty && is_sequence) {
        // A newline or `;` where nothing ends; also the one at the very end.
        if (how.empty() && !commands_.empty() && commands_.back().followed_by == ";") {
            commands_.back().followed_by.clear();
        }
        return;
    }
    // `then` on a line of its own is followed by what it begins.
    if (is_sequence && !how.empty() && command_.words.size() == 1 &&
        begins_more(command_.words[0])) {
        return;
    }
    command_.followed_by = how;
    commands_.push_back(std::exchange(command_, {}));
}

}  // namespace

void append_literal(std::string& word, std::string_view text) {
    for (const char c : text) {
        word += c;
        if (word.ends_with(active_mark)) word += active_mark;
    }
}

std::optional<std::vector<SimpleCommand>> read_shell(std::string_view text) {
    return Reader(text, 0).read();
}

}  // namespace holdpoint::agent::feedback
