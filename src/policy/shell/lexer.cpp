#include "policy/shell/lexer.h"

#include <algorithm>
#include <array>

namespace holdpoint::policy::shell {
namespace {

constexpr std::size_t nesting_max = 64;
/// What flows into `>(…)` comes later than everything in its own pipeline.
constexpr std::uint32_t output_stage = 1U << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

constexpr std::array<bool, 256> make_ordinary() {
    std::array<bool, 256> result{};
    for (const char c : std::string_view(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=-")) {
        result[static_cast<unsigned char>(c)] = true;
    }
    return result;
}
constexpr std::array<bool, 256> ordinary = make_ordinary();

int hex_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

char letter_escape(char c) {
    switch (c) {
        case 'n':
            return '\n';
        case 't':
            return '\t';
        case 'r':
            return '\r';
        case 'a':
            return '\a';
        case 'b':
            return '\b';
        case 'f':
            return '\f';
        case 'v':
            return '\v';
        case 'e':
        case 'E':
            return '\x1b';
        default:
            return c;
    }
}

}  // namespace

void Lexer::Context::reset(Nest new_nest) {
    std::string old_word = std::move(word);
    std::vector<LexedWord> old_words = std::move(words);
    *this = Context{};
    word = std::move(old_word);
    words = std::move(old_words);
    word.clear();
    words.clear();
    nest = new_nest;
}

void Lexer::read(std::string_view input, Quotes quotes, const Start& start, std::string& text,
                 std::uint32_t& pipelines, const Take& take) {
    input_ = input;
    at_ = 0;
    ignores_quotes_ = quotes == Quotes::ignored;
    is_uncertain_ = false;
    is_complete_ = true;
    text_ = &text;
    pipelines_ = &pipelines;
    take_ = &take;
    if (contexts_.empty()) contexts_.resize(1);
    depth_ = 0;
    top().reset(Nest::top);
    top().is_piped = start.is_piped;
    top().was_piped = start.is_piped;
    top().stage = start.stage;
    top().pipeline = start.is_piped ? start.pipeline : ++*pipelines_;

    while (at_ < input_.size()) step();
    while (true) {
        if (top().in_double_quotes) is_uncertain_ = true;
        if (depth_ == 0) break;
        pop();
    }
    end_command();
}

/// Characters that mean nothing to any shell, in a row; most of every command is made of these.
bool Lexer::take_ordinary() {
    std::size_t end = at_;
    while (end < input_.size() && ordinary[static_cast<unsigned char>(input_[end])]) ++end;
    if (end == at_) return false;
    Context& context = top();
    const std::string_view run = input_.substr(at_, end - at_);
    context.word += run;
    context.has_word = true;
    if (context.word_is_digits) context.word_is_digits = std::ranges::all_of(run, is_digit);
    at_ = end;
    return true;
}

void Lexer::step() {
    if (take_ordinary()) return;
    const char c = input_[at_];
    if (top().in_double_quotes && step_quoted(c)) return;
    step_plain(c);
}

/// Inside double quotes; false where the character means what it means outside.
bool Lexer::step_quoted(char c) {
    switch (c) {
        case '"':
            top().in_double_quotes = false;
            ++at_;
            return true;
        case '$':
        case '`':
        case '\\':
            return false;
        case '}':
            if (top().parameters > 0) return false;
            [[fallthrough]];
        default:
            add(c);
            ++at_;
            return true;
    }
}

void Lexer::step_plain(char c) {
    switch (c) {
        case '\'':
            return single_quoted();
        case '"':
            top().has_word = true;
            top().word_is_digits = false;
            if (!ignores_quotes_) top().in_double_quotes = true;
            ++at_;
            return;
        case '\\':
            return backslash();
        case '$':
            return dollar();
        case '`':
            return backtick();
        case '(':
            return open(Nest::group, 1);
        case ')':
            return close_parenthesis();
        case '{':
        case '}':
            return brace(c);
        case '<':
        case '>':
            return redirect(c);
        case ';':
        case '&':
        case '|':
        case '\n':
            return operate(c);
        case '#':
            // A comment, perhaps: the quotes in it may be apostrophes.
            is_uncertain_ = true;
            break;
        case '*':
        case '?':
        case '[':
            top().word_has_glob = true;
            break;
        case ',':
            if (top().braces > 0) {
                end_word();
                ++at_;
                return;
            }
            break;
        default:
            if (is_blank(c)) {
                end_word();
                ++at_;
                return;
            }
    }
    if (!is_digit(c)) top().word_is_digits = false;
    add(c);
    ++at_;
}

void Lexer::add(char c) {
    top().word += c;
    top().has_word = true;
}

void Lexer::single_quoted() {
    top().has_word = true;
    top().word_is_digits = false;
    const std::size_t end = input_.find('\'', at_ + 1);
    if (ignores_quotes_ || end == std::string_view::npos) {
        is_uncertain_ = true;
        ++at_;
        return;
    }
    top().word += input_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
}

void Lexer::backslash() {
    if (peek() != '\n' && at_ + 1 < input_.size()) {
        add(input_[at_ + 1]);
        top().word_is_digits = false;
    }
    at_ += 2;
}

/// Expansions count as empty, so `s$()udo` and `s${x}udo` are found; the text inside `${x:-text}`
/// is kept, for it may be what runs.
void Lexer::dollar() {
    top().has_word = true;
    top().word_is_digits = false;
    const char next = peek();
    if (next == '(') return open(Nest::substitution, 2);
    if (next == '\'' && !top().in_double_quotes && !ignores_quotes_) return ansi_quoted();
    if (next == '{') {
        is_uncertain_ = true;  // quotes inside follow rules of their own
        ++top().parameters;
        at_ += 2;
        while (peek(0) == '!' || peek(0) == '#') ++at_;
        while (is_letter(peek(0)) || is_digit(peek(0)) || peek(0) == '@' || peek(0) == '*') ++at_;
        while (at_ < input_.size() && std::string_view(":-=+?#%/^,@").contains(input_[at_])) ++at_;
        return;
    }
    ++at_;
    if (is_letter(next)) {
        while (is_letter(peek(0)) || is_digit(peek(0))) ++at_;
    } else if (is_digit(next) || (next != '\0' && std::string_view("@*#?$!-").contains(next))) {
        ++at_;
    } else if (next == '[') {
        is_uncertain_ = true;  // the old form of arithmetic
    }
}

void Lexer::ansi_quoted() {
    at_ += 2;
    while (at_ < input_.size() && input_[at_] != '\'') {
        if (input_[at_] != '\\' || at_ + 1 >= input_.size()) {
            add(input_[at_++]);
            continue;
        }
        const char kind = input_[at_ + 1];
        at_ += 2;
        int value = 0;
        int digits = 0;
        if (kind >= '0' && kind <= '7') {
            for (--at_; digits < 3 && peek(0) >= '0' && peek(0) <= '7'; ++digits) {
                value = value * 8 + (input_[at_++] - '0');
            }
            add(static_cast<char>(value));
        } else if (kind == 'x' || kind == 'u' || kind == 'U') {
            const int digits_max = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
            for (; digits < digits_max && hex_value(peek(0)) >= 0; ++digits) {
                value = (value << 4 | hex_value(input_[at_++])) & 0x7FFFFFF;
            }
            // Names of programs are ASCII; what is beyond matches none of them.
            add(value < 0x80 ? static_cast<char>(value) : '\x80');
        } else {
            add(letter_escape(kind));
        }
    }
    if (at_ >= input_.size()) is_uncertain_ = true;
    ++at_;
}

void Lexer::backtick() {
    is_uncertain_ = true;  // backslashes inside count twice
    std::size_t open_at = depth_;
    while (open_at > 0 && contexts_[open_at].nest != Nest::backtick) --open_at;
    if (open_at == 0) return open(Nest::backtick, 1);
    while (depth_ >= open_at) pop();
    ++at_;
}

void Lexer::open(Nest nest, std::size_t length) {
    at_ += length;
    if (depth_ + 1 >= nesting_max) {
        is_complete_ = false;
        end_command();
        return;
    }
    top().has_word = top().has_word || nest != Nest::group;
    ++depth_;
    if (contexts_.size() <= depth_) contexts_.resize(depth_ + 1);
    const Context& outer = contexts_[depth_ - 1];
    Context& inner = contexts_[depth_];
    inner.reset(nest);
    inner.pipeline = outer.pipeline;
    inner.stage = outer.stage + (nest == Nest::output ? output_stage : 0);
    // What runs inside belongs to the command outside: no new pipeline begins there.
    inner.is_piped = true;
    inner.was_piped = outer.was_piped;
}

/// Ends the innermost context; the word around it goes on.
void Lexer::pop() {
    end_command();
    const Context& inner = contexts_[depth_];
    Context& outer = contexts_[depth_ - 1];
    switch (inner.nest) {
        case Nest::substitution:
        case Nest::backtick:
            outer.stage = inner.stage + 1;
            outer.was_piped = true;
            break;
        case Nest::group:
            outer.stage = std::max(outer.stage, inner.stage);
            break;
        case Nest::output:
        case Nest::top:
            break;
    }
    --depth_;
}

void Lexer::close_parenthesis() {
    ++at_;
    const Nest nest = top().nest;
    if (nest == Nest::top || nest == Nest::backtick) {
        end_command();  // a pattern of case, or nothing that makes sense
        return;
    }
    pop();
}

void Lexer::brace(char c) {
    ++at_;
    Context& context = top();
    if (c == '}' && context.parameters > 0) {
        --context.parameters;
        return;
    }
    const char next = peek(0);
    const bool stands_alone = !context.has_word && context.word.empty() &&
                              (next == '\0' || is_blank(next) || next == '\n' || next == ';');
    if (stands_alone) {
        if (context.words.empty()) note_compound(c == '{' ? "{" : "}");
        end_command();
        return;
    }
    if (c == '{') {
        ++context.braces;
        end_word();
        context.word_is_braced = true;
    } else {
        if (context.braces > 0) --context.braces;
        // `{fd}>file` names a descriptor, it is no word.
        const bool is_descriptor = context.word_is_braced && (next == '<' || next == '>');
        if (is_descriptor) {
            context.word.clear();
            context.has_word = false;
        }
        end_word();
        context.word_is_braced = false;
    }
}

void Lexer::redirect(char c) {
    Context& context = top();
    if (context.has_word && context.word_is_digits) {
        context.word.clear();
        context.has_word = false;
    }
    end_word();
    if (peek() == '(') return open(c == '<' ? Nest::substitution : Nest::output, 2);
    if (c == '<' && peek() == '<') is_uncertain_ = true;  // a heredoc: its quotes are text
    ++at_;
    while (at_ < input_.size() && (input_[at_] == '<' || input_[at_] == '>')) {
        // `> >(…)` without the blank between.
        if (peek() == '(') return open(input_[at_] == '<' ? Nest::substitution : Nest::output, 2);
        ++at_;
    }
    if (peek(0) == '&' || peek(0) == '|' || peek(0) == '-') ++at_;
    context.next_is_target = true;
}

void Lexer::operate(char c) {
    const bool is_double = c != '\n' && peek() == c;
    at_ += is_double ? 2 : 1;
    const bool is_pipe = c == '|' && !is_double;
    if (is_pipe && peek(0) == '&') ++at_;
    end_command();
    Context& context = top();
    if (is_pipe) {
        ++context.stage;
        context.was_piped = true;
    } else if (!context.is_piped && context.compounds == 0) {
        begin_pipeline();
    }
}

void Lexer::begin_pipeline() {
    top().pipeline = ++*pipelines_;
    top().stage = 0;
    top().was_piped = false;
}

/// Inside `{ … }`, loops and conditions everything shares the pipes around.
void Lexer::note_compound(std::string_view word) {
    constexpr std::array opening =
        std::to_array<std::string_view>({"{", "if", "while", "until", "for", "case", "select"});
    constexpr std::array closing = std::to_array<std::string_view>({"}", "fi", "done", "esac"});
    int& compounds = top().compounds;
    if (std::ranges::find(opening, word) != opening.end()) ++compounds;
    if (std::ranges::find(closing, word) != closing.end() && compounds > 0) --compounds;
}

void Lexer::end_word() {
    Context& context = top();
    if (context.has_word) {
        if (context.words.empty()) note_compound(context.word);
        context.words.push_back({static_cast<std::uint32_t>(text_->size()),
                                 static_cast<std::uint32_t>(context.word.size()),
                                 context.word_has_glob, context.next_is_target});
        *text_ += context.word;
        context.next_is_target = false;
    }
    context.word.clear();
    context.has_word = false;
    context.word_has_glob = false;
    context.word_is_digits = true;
}

void Lexer::end_command() {
    end_word();
    Context& context = top();
    context.next_is_target = false;
    context.braces = 0;
    if (!context.words.empty()) {
        (*take_)({&context.words, context.pipeline, context.stage, context.was_piped});
        context.words.clear();
    }
}

}  // namespace holdpoint::policy::shell
