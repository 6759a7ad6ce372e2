#include "policy/shell/reading.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/assert.h"
#include "policy/match/characters.h"

namespace holdpoint::policy::shell {
namespace {

/// What a byte outside quotes does.
enum class Class : std::uint8_t {
    word,
    blank,
    newline,
    single_quote,
    double_quote,
    semicolon,
    ampersand,
    bar,
    // From here on the command is opaque; each class is one reason.
    control,
    non_ascii,
    backslash,
    dollar,
    backtick,
    history,
    glob,
    tilde,
    brace,
    hash,
    redirection,
    parenthesis
};

constexpr std::array<Class, 256> make_classes() {
    std::array<Class, 256> classes{};
    for (std::size_t i = 0; i < 256; ++i) classes[i] = i < 0x80 ? Class::control : Class::non_ascii;
    const auto set = [&](std::string_view characters, Class value) {
        for (const char c : characters) classes[static_cast<unsigned char>(c)] = value;
    };
    set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:@%+=-", Class::word);
    set(" \t", Class::blank);
    set("\n", Class::newline);
    set("'", Class::single_quote);
    set("\"", Class::double_quote);
    set(";", Class::semicolon);
    set("&", Class::ampersand);
    set("|", Class::bar);
    set("\\", Class::backslash);
    set("$", Class::dollar);
    set("`", Class::backtick);
    set("!^", Class::history);
    set("*?[]", Class::glob);
    set("~", Class::tilde);
    set("{}", Class::brace);
    set("#", Class::hash);
    set("<>", Class::redirection);
    set("()", Class::parenthesis);
    return classes;
}

constexpr std::array<Class, 256> classes = make_classes();

Class class_of(char c) { return classes[static_cast<unsigned char>(c)]; }

Opacity opacity_of(Class value) {
    switch (value) {
        case Class::control:
            return Opacity::odd_character;
        case Class::non_ascii:
            return Opacity::non_ascii;
        case Class::backslash:
            return Opacity::escape;
        case Class::dollar:
            return Opacity::expansion;
        case Class::backtick:
            return Opacity::substitution;
        case Class::history:
            return Opacity::history;
        case Class::glob:
            return Opacity::glob;
        case Class::tilde:
            return Opacity::tilde;
        case Class::brace:
            return Opacity::brace;
        case Class::hash:
            return Opacity::comment;
        case Class::redirection:
            return Opacity::redirection;
        case Class::parenthesis:
            return Opacity::subshell;
        case Class::word:
        case Class::blank:
        case Class::newline:
        case Class::single_quote:
        case Class::double_quote:
        case Class::semicolon:
        case Class::ampersand:
        case Class::bar:
            break;
    }
    return Opacity::none;
}

bool is_reserved(std::string_view word) {
    constexpr std::array words = std::to_array<std::string_view>(
        {"if",     "then",  "else",  "elif", "fi",   "case", "esac", "for",
         "select", "while", "until", "do",   "done", "in",   "time", "function",
         "coproc", "[[",    "]]",    "((",   "!",    "{",    "}"});
    return word.size() <= 8 && std::ranges::find(words, word) != words.end();
}

/// In double quotes these still mean something.
std::optional<Opacity> special_in_double_quotes(char c) {
    switch (c) {
        case '$':
            return Opacity::expansion;
        case '`':
            return Opacity::substitution;
        case '\\':
            return Opacity::escape;
        case '!':
            return Opacity::history;
        default:
            return std::nullopt;
    }
}

}  // namespace

/// Reads one text; every step either succeeds or makes the reading opaque.
class Prover {
  public:
    Prover(std::string_view text, Reading& reading) : text_(text), reading_(reading) {}

    void run();

  private:
    bool fail(Opacity opacity, std::size_t position);
    bool word();
    bool single_quoted();
    bool double_quoted();
    bool quoted_run(std::size_t end);
    bool close_word(std::size_t word_start, std::size_t stored_start);
    bool close_command(Operator followed_by);
    bool operate(Class value);
    bool finish();

    Reading::Words& command() { return reading_.commands_[reading_.commands_count_]; }
    void store(std::size_t from, std::size_t to) {
        std::memcpy(reading_.text_ + stored_, text_.data() + from, to - from);
        stored_ += to - from;
    }

    std::string_view text_;
    Reading& reading_;
    std::size_t at_ = 0;
    std::size_t stored_ = 0;           // bytes in reading_.text_
    bool newline_ended_last_ = false;  // the last command was ended by a newline
    std::size_t last_position_ = 0;    // of the last operator that was none
};

bool Prover::fail(Opacity opacity, std::size_t position) {
    reading_.opacity_ = opacity;
    reading_.position_ = static_cast<std::uint32_t>(position);
    reading_.commands_count_ = 0;
    return false;
}

void Prover::run() {
    reading_.commands_count_ = 0;
    reading_.words_count_ = 0;
    command() = {0, 0, Operator::end};
    while (at_ < text_.size()) {
        const Class value = class_of(text_[at_]);
        switch (value) {
            case Class::blank:
                ++at_;
                break;
            case Class::word:
            case Class::single_quote:
            case Class::double_quote:
                if (!word()) return;
                break;
            default:
                if (!operate(value)) return;
        }
    }
    if (!finish()) return;
    reading_.opacity_ = Opacity::none;
    reading_.position_ = 0;
}

bool Prover::operate(Class value) {
    const std::size_t start = at_;
    const bool is_double = at_ + 1 < text_.size() && text_[at_ + 1] == text_[at_];
    switch (value) {
        case Class::newline:
            ++at_;
            // A blank line, or a line that goes on after an operator.
            if (command().count == 0) return true;
            if (!close_command(Operator::sequence)) return false;
            newline_ended_last_ = true;
            return true;
        case Class::semicolon:
            ++at_;
            break;
        case Class::ampersand:
            if (!is_double) return fail(Opacity::background, at_);
            at_ += 2;
            break;
        case Class::bar:
            if (!is_double && at_ + 1 < text_.size() && text_[at_ + 1] == '&') {
                return fail(Opacity::background, at_);
            }
            at_ += is_double ? 2 : 1;
            break;
        default:
            return fail(opacity_of(value), at_);
    }
    if (command().count == 0) return fail(Opacity::missing_command, start);
    last_position_ = start;
    newline_ended_last_ = false;
    if (value == Class::semicolon) return close_command(Operator::sequence);
    if (value == Class::ampersand) return close_command(Operator::and_then);
    return close_command(is_double ? Operator::or_else : Operator::pipe);
}

bool Prover::close_command(Operator followed_by) {
    command().followed_by = followed_by;
    if (reading_.commands_count_ + 1 >= Reading::commands_max) {
        // The place for one more is kept for what may follow; if nothing does, finish() is content.
        const std::size_t rest = text_.find_first_not_of(" \t\n", at_);
        if (rest != std::string_view::npos) return fail(Opacity::too_many_commands, rest);
        at_ = text_.size();
        ++reading_.commands_count_;
        return true;
    }
    ++reading_.commands_count_;
    command() = {static_cast<std::uint16_t>(reading_.words_count_), 0, Operator::end};
    return true;
}

bool Prover::finish() {
    const bool has_open = reading_.commands_count_ < Reading::commands_max && command().count > 0;
    if (has_open) {
        ++reading_.commands_count_;
        return true;
    }
    if (reading_.commands_count_ == 0) return fail(Opacity::empty, 0);
    if (!newline_ended_last_) return fail(Opacity::missing_command, last_position_);
    reading_.commands_[reading_.commands_count_ - 1].followed_by = Operator::end;
    return true;
}

bool Prover::word() {
    const std::size_t word_start = at_;
    const std::size_t stored_start = stored_;
    while (at_ < text_.size()) {
        const Class value = class_of(text_[at_]);
        if (value == Class::word) {
            std::size_t end = at_ + 1;
            while (end < text_.size() && class_of(text_[end]) == Class::word) ++end;
            store(at_, end);
            at_ = end;
        } else if (value == Class::single_quote) {
            if (!single_quoted()) return false;
        } else if (value == Class::double_quote) {
            if (!double_quoted()) return false;
        } else {
            break;
        }
    }
    return close_word(word_start, stored_start);
}

/// Takes the quoted text up to `end`, where the closing quote stands.
bool Prover::quoted_run(std::size_t end) {
    const std::size_t start = at_ + 1;
    const std::string_view run = text_.substr(start, end - start);
    std::size_t from = 0;
    while (const auto odd = match::find_odd_character(run, from)) {
        // Newlines and tabs are data here.
        if (odd->value != '\n' && odd->value != '\t') {
            return fail(Opacity::odd_character, start + odd->offset);
        }
        from = odd->offset + 1;
    }
    store(start, end);
    at_ = end + 1;
    return true;
}

bool Prover::single_quoted() {
    const std::size_t end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) return fail(Opacity::unclosed_quote, at_);
    return quoted_run(end);
}

bool Prover::double_quoted() {
    for (std::size_t end = at_ + 1; end < text_.size(); ++end) {
        if (text_[end] == '"') return quoted_run(end);
        if (const auto special = special_in_double_quotes(text_[end])) return fail(*special, end);
    }
    return fail(Opacity::unclosed_quote, at_);
}

bool Prover::close_word(std::size_t word_start, std::size_t stored_start) {
    Reading::Words& words = command();
    const std::string_view word(reading_.text_ + stored_start, stored_ - stored_start);
    if (words.count == 0) {
        if (word.empty()) return fail(Opacity::empty_program, word_start);
        if (word.contains('=')) return fail(Opacity::assignment, word_start);
        if (word[0] == '%') return fail(Opacity::job, word_start);
        if (is_reserved(word)) return fail(Opacity::reserved_word, word_start);
    }
    if (words.count == Reading::words_max) return fail(Opacity::too_many_words, word_start);
    reading_.words_[reading_.words_count_++] = {static_cast<std::uint16_t>(stored_start),
                                                static_cast<std::uint16_t>(word.size())};
    ++words.count;
    return true;
}

void prove(std::string_view text, Dialect dialect, Reading& reading) {
    reading.commands_count_ = 0;
    reading.position_ = 0;
    if (dialect == Dialect::other) {
        reading.opacity_ = Opacity::dialect;
    } else if (text.size() > Reading::text_bytes_max) {
        reading.opacity_ = Opacity::too_long;
        reading.position_ = Reading::text_bytes_max;
    } else {
        Prover(text, reading).run();
    }
}

std::size_t Command::size() const { return reading_->commands_[index_].count; }

std::string_view Command::operator[](std::size_t word) const {
    HOLDPOINT_ASSERT(word < size());
    const Reading::Word& stored = reading_->words_[reading_->commands_[index_].first + word];
    return {reading_->text_ + stored.offset, stored.length};
}

Operator Command::followed_by() const { return reading_->commands_[index_].followed_by; }

Dialect dialect_of(std::string_view name) {
    if (name == "bash") return Dialect::bash;
    if (name == "sh") return Dialect::sh;
    return Dialect::other;
}

std::string_view to_string(Opacity opacity) {
    switch (opacity) {
        case Opacity::none:
            return "plain words";
        case Opacity::unread:
            return "not read";
        case Opacity::dialect:
            return "a shell other than bash and sh";
        case Opacity::too_long:
            return "more than 4096 bytes";
        case Opacity::too_many_commands:
            return "more than 16 commands";
        case Opacity::too_many_words:
            return "more than 128 words in one command";
        case Opacity::empty:
            return "no command";
        case Opacity::missing_command:
            return "an operator without a command beside it";
        case Opacity::unclosed_quote:
            return "a quote that is not closed";
        case Opacity::odd_character:
            return "a control or invisible character";
        case Opacity::non_ascii:
            return "a letter outside quotes that is not ASCII";
        case Opacity::escape:
            return "a backslash";
        case Opacity::expansion:
            return "an expansion";
        case Opacity::substitution:
            return "a command substitution";
        case Opacity::history:
            return "a history expansion";
        case Opacity::glob:
            return "a file name pattern";
        case Opacity::tilde:
            return "a tilde";
        case Opacity::brace:
            return "a brace";
        case Opacity::comment:
            return "a comment";
        case Opacity::redirection:
            return "a redirection";
        case Opacity::subshell:
            return "a parenthesis";
        case Opacity::background:
            return "a command in the background";
        case Opacity::assignment:
            return "an assignment";
        case Opacity::reserved_word:
            return "a reserved word";
        case Opacity::job:
            return "a job number";
        case Opacity::empty_program:
            return "an empty program name";
    }
    return "unknown";
}

}  // namespace holdpoint::policy::shell
