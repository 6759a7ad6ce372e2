#include "agent/feedback/command_form.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "agent/feedback/options.h"
#include "agent/feedback/text_form.h"
#include "base/ascii.h"
#include "base/json.h"

namespace holdpoint::agent::feedback {
namespace {

using policy::match::PathContext;
using Words = std::span<const std::string>;

constexpr int unwrapping_max = 4;
constexpr std::size_t clustered_max = 4;  // letters behind one dash
constexpr std::size_t words_max = 1000;   // of a program unknown to us; beyond, order counts

bool is_reserved(std::string_view word) {
    return is_one_of(word, {"if", "then", "elif", "else", "while", "until", "do", "!"});
}

/// Runs what follows and changes nothing about it.
bool is_transparent(std::string_view word) {
    return is_one_of(word, {"command", "env", "nohup", "builtin", "exec", "time", "nice"});
}

bool is_shell(std::string_view word) { return is_one_of(word, {"bash", "sh", "dash", "zsh"}); }

using ascii::is_digit;

bool is_option(std::string_view word) {
    return word.size() > 1 && word[0] == '-' && !is_digit(word[1]);
}

bool holds_expansion(std::string_view word) {
    return word.contains(std::string(active_mark) + "$") ||
           word.contains(std::string(active_mark) + "<") ||
           word.contains(std::string(active_mark) + ">");
}

/// Without the folders where every system keeps its programs.
std::string program_form(const std::string& word, const PathContext& context) {
    if (word == std::string(active_mark) + "[") return "[";  // a pattern of one character is none
    for (const std::string_view folder :
         {"/usr/local/sbin/", "/usr/local/bin/", "/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"}) {
        if (word.starts_with(folder) && !word.substr(folder.size()).contains('/')) {
            return word.substr(folder.size());
        }
    }
    if (!word.contains('/') || holds_expansion(word)) return word;
    std::string path = path_form(word, context);
    // Without a slash it would be looked up in PATH, which is another program.
    return path.contains('/') ? path : "./" + path;
}

std::string_view synonym(std::string_view name, std::string_view synonyms) {
    while (!synonyms.empty()) {
        const std::size_t end = std::min(synonyms.find(' '), synonyms.size());
        const std::string_view pair = synonyms.substr(0, end);
        const std::size_t equals = pair.find('=');
        if (pair.substr(0, equals) == name) return pair.substr(equals + 1);
        synonyms.remove_prefix(std::min(end + 1, synonyms.size()));
    }
    return name;
}

void append_all(std::string& out, const auto& words) {
    out += '[';
    for (const std::string& word : words) {
        json::append_quoted(out, word);
        out += ',';
    }
    out += ']';
}

/// The words of one program whose options are known, sorted out.
class Parsed {
  public:
    explicit Parsed(const PathContext& context) : context_(&context) {}

    /// Takes options, and operands too unless `stops`: then the first operand ends it. Returns how
    /// many words were taken.
    std::size_t take(Words words, const OptionForm& form, bool stops);
    /// `form` is the one that most was taken with.
    std::string text(const OptionForm& form) const;

  private:
    std::size_t take_long(Words words, std::size_t at, const OptionForm& form);
    std::size_t take_shorts(Words words, std::size_t at, const OptionForm& form);
    void add_value(std::string_view name, const std::string& value, const OptionForm& form);

    const PathContext* context_;
    std::set<std::string> flags_;
    struct Valued {
        std::string name, value;
    };
    std::vector<Valued> valued_;
    std::vector<std::string> operands_;
};

/// A word that is a path or URL, as far as its looks tell.
std::string word_form(const std::string& word, const PathContext& context) {
    if (holds_expansion(word)) return word;
    const std::string home = std::string(active_mark) + "~";
    if (word == home || word.starts_with(home + "/")) {
        const std::string path = path_form(word.substr(active_mark.size()), context);
        return context.home.empty() ? std::string(active_mark) + path : path;
    }
    if (word.starts_with('~')) return word;  // quoted: a file of that name
    if (word.contains("://")) return url_form(word).value_or(word);
    const bool is_path = word == "." || word == ".." ||
                         (word.contains('/') && word.find_first_of(" \t\n") == std::string::npos);
    return is_path ? path_form(word, context) : word;
}

std::string operand_path(const std::string& word, const PathContext& context) {
    const std::string formed = word_form(word, context);
    if (holds_expansion(word) || word.contains("://") || word.starts_with('~') || formed != word) {
        return formed;
    }
    return path_form(word, context);
}

void Parsed::add_value(std::string_view name, const std::string& value, const OptionForm& form) {
    const std::string main(synonym(name, form.synonyms));
    // What a message says is text, whatever slashes it holds.
    const bool is_text = is_one_of(main, {"m", "H", "d", "A", "F", "data-raw", "message"});
    valued_.push_back({main, is_text ? value : word_form(value, *context_)});
}

std::size_t Parsed::take_long(Words words, std::size_t at, const OptionForm& form) {
    const std::string_view option = std::string_view(words[at]).substr(2);
    const std::size_t equals = option.find('=');
    const std::string_view name = option.substr(0, equals);
    if (equals != std::string_view::npos) {
        add_value(name, std::string(option.substr(equals + 1)), form);
        return 1;
    }
    if (lists(form.valued_longs, name) && at + 1 < words.size()) {
        add_value(name, words[at + 1], form);
        return 2;
    }
    flags_.insert(std::string(synonym(name, form.synonyms)));
    return 1;
}

std::size_t Parsed::take_shorts(Words words, std::size_t at, const OptionForm& form) {
    const std::string_view letters = std::string_view(words[at]).substr(1);
    for (std::size_t i = 0; i < letters.size(); ++i) {
        const std::string_view letter = letters.substr(i, 1);
        if (!form.valued_shorts.contains(letter)) {
            flags_.insert(std::string(synonym(letter, form.synonyms)));
            continue;
        }
        if (i + 1 < letters.size()) {
            add_value(letter, std::string(letters.substr(i + 1)), form);
            return 1;
        }
        if (at + 1 >= words.size()) break;
        add_value(letter, words[at + 1], form);
        return 2;
    }
    return 1;
}

std::size_t Parsed::take(Words words, const OptionForm& form, bool stops) {
    std::size_t at = 0;
    while (at < words.size()) {
        const std::string& word = words[at];
        if (word == "--") {
            // Before files it only says that they are no options; elsewhere it may say more.
            const bool is_kept = form.operands == Operands::words;
            if (is_kept) operands_.push_back(word);
            operands_.insert(operands_.end(), words.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                             words.end());
            return words.size();
        }
        if (word.starts_with("--")) {
            at += take_long(words, at, form);
        } else if (is_option(word)) {
            at += take_shorts(words, at, form);
        } else if (word.size() > 1 && word[0] == '-') {
            flags_.insert(word);  // a number: `kill -9`, `head -5`
            ++at;
        } else if (stops) {
            return at;
        } else {
            operands_.push_back(word);
            ++at;
        }
    }
    return at;
}

std::string Parsed::text(const OptionForm& form) const {
    const Operands operands = form.operands;
    // Values of one option keep their order, unless the program does not care.
    std::map<std::string, std::vector<std::string>> valued;
    for (const Valued& option : valued_) valued[option.name].push_back(option.value);
    std::vector<std::string> values;
    for (auto& [name, of_one] : valued) {
        if (lists(form.unordered, name)) std::ranges::sort(of_one);
        for (const std::string& value : of_one) {
            values.push_back(name);
            values.push_back(value);
        }
    }
    std::vector<std::string> rest = operands_;
    const bool are_paths = operands == Operands::paths || operands == Operands::path_set ||
                           operands == Operands::after_first;
    const std::size_t first = operands == Operands::after_first && !rest.empty() ? 1 : 0;
    for (std::size_t i = 0; i < rest.size(); ++i) {
        if (are_paths && i >= first) {
            rest[i] = operand_path(rest[i], *context_);
        } else if (rest[i].contains("://")) {
            rest[i] = url_form(rest[i]).value_or(rest[i]);
        }
    }
    if (operands != Operands::paths && operands != Operands::words) {
        std::ranges::sort(rest.begin() + static_cast<std::ptrdiff_t>(first), rest.end());
    }
    std::string out;
    append_all(out, flags_);
    append_all(out, values);
    append_all(out, rest);
    return out;
}

class Builder {
  public:
    explicit Builder(const PathContext& context) : context_(context) {}

    void add(std::vector<SimpleCommand> commands, int depth);
    CommandForm take() { return std::move(form_); }

  private:
    void add(SimpleCommand command, int depth, bool is_alone);
    void add_words(Words words);
    void add_loose(Words words, bool has_clusters);
    bool unwrap(const SimpleCommand& command, int depth, bool is_alone);
    void add_assignments(std::vector<std::string> assignments);

    PathContext context_;
    CommandForm form_;
};

void Builder::add(std::vector<SimpleCommand> commands, int depth) {
    const bool is_alone = commands.size() == 1;
    for (SimpleCommand& command : commands) add(std::move(command), depth, is_alone);
}

/// `env A=1 program` is `A=1 program`, and so on.
void strip_wrappers(SimpleCommand& command, std::string& out) {
    std::vector<std::string>& words = command.words;
    while (words.size() > 1) {
        if (is_reserved(words[0]) || is_one_of(words[0], {"sudo", "doas"})) {
            if (is_option(words[1])) return;
            json::append_quoted(out, words[0]);
        } else if (!is_transparent(words[0]) || is_option(words[1])) {
            return;
        }
        const bool is_env = words[0] == "env";
        words.erase(words.begin());
        while (is_env && words.size() > 1 && words[0].contains('=')) {
            command.assignments.push_back(words[0]);
            words.erase(words.begin());
        }
    }
}

void Builder::add_assignments(std::vector<std::string> assignments) {
    // One that uses another has to come behind it.
    if (std::ranges::none_of(assignments, holds_expansion)) std::ranges::sort(assignments);
    append_all(form_.text, assignments);
}

/// What a shell runs whose whole work is in its argument.
bool Builder::unwrap(const SimpleCommand& command, int depth, bool is_alone) {
    const std::vector<std::string>& words = command.words;
    const bool is_eval = words.size() == 2 && words[0] == "eval";
    const bool is_inner_shell =
        words.size() == 3 && is_shell(words[0]) && is_one_of(words[1], {"-c", "-lc", "-ec"});
    if (!is_eval && !is_inner_shell) return false;
    if (depth >= unwrapping_max || words.back().contains(active_mark)) return false;
    if (!command.assignments.empty() || !command.redirections.empty()) return false;
    std::optional<std::vector<SimpleCommand>> inner = read_shell(words.back());
    if (!inner || inner->empty() || (inner->size() > 1 && !is_alone)) return false;
    inner->back().followed_by = command.followed_by;
    add(std::move(*inner), depth + 1);
    return true;
}

void Builder::add(SimpleCommand command, int depth, bool is_alone) {
    if (!command.words.empty()) command.words[0] = program_form(command.words[0], context_);
    std::string prefix;
    strip_wrappers(command, prefix);
    if (!command.words.empty()) command.words[0] = program_form(command.words[0], context_);
    if (prefix.empty() && unwrap(command, depth, is_alone)) return;
    form_.text += '{' + prefix;
    add_assignments(std::move(command.assignments));
    if (!command.words.empty()) add_words(command.words);
    for (std::string& redirection : command.redirections) {
        const std::size_t blank = redirection.find(' ');
        redirection = redirection.substr(0, blank + 1) +
                      operand_path(redirection.substr(blank + 1), context_);
    }
    append_all(form_.text, command.redirections);
    json::append_quoted(form_.text, command.followed_by);
    form_.text += '}';
    // From here on nobody knows where relative paths begin.
    if (!command.words.empty() && is_one_of(command.words[0], {"cd", "pushd", "popd", "chroot"})) {
        context_.working_directory.clear();
    }
}

void Builder::add_words(Words words) {
    const std::string& program = words[0];
    json::append_quoted(form_.text, program);
    words = words.subspan(1);
    const OptionForm* form = find_options(program, "");
    Parsed parsed(context_);
    if (form != nullptr && has_subcommands(program)) {
        words = words.subspan(parsed.take(words, *form, true));
        if (!words.empty()) {
            const OptionForm* own = find_options(program, words[0]);
            // Where all take the same options, these may stand on both sides of the subcommand.
            const bool is_shared = own != nullptr && own->order == form->order &&
                                   own->valued_longs == form->valued_longs;
            if (!is_shared) {
                form_.text += parsed.text(*form);
                parsed = Parsed(context_);
            }
            json::append_quoted(form_.text,
                                own != nullptr && own != form ? own->subcommand : words[0]);
            words = words.subspan(1);
            form = own;
        }
    }
    if (form == nullptr) return add_loose(words, has_subcommands(program));
    if (form->order == WordOrder::free) {
        parsed.take(words, *form, false);
        form_.text += parsed.text(*form);
        return;
    }
    std::vector<std::string> fixed(words.begin(), words.end());
    if (!takes_text(program)) {
        for (std::string& word : fixed) word = word_form(word, context_);
    }
    append_all(form_.text, fixed);
}

/// `--name=value` as two words, bound to each other.
void append_loose(std::vector<LooseWords::Word>& out, const std::string& word,
                  const PathContext& context) {
    const std::size_t equals = word.find('=');
    if (!is_option(word) || equals == std::string::npos) {
        out.push_back({word_form(word, context), is_option(word), false});
        return;
    }
    out.push_back({word.substr(0, equals), true, true});
    out.push_back({word_form(word.substr(equals + 1), context), false, false});
}

/// `-af`, of a program that takes it for `-a -f`.
bool is_cluster(std::string_view word) {
    return word.size() > 2 && word.size() <= clustered_max + 1 && word[0] == '-' &&
           std::ranges::all_of(word.substr(1), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
           });
}

void Builder::add_loose(Words words, bool has_clusters) {
    LooseWords loose;
    bool is_behind = false;  // `--` stands before: no options any more
    for (const std::string& word : words) {
        if (is_behind || word == "--") {
            is_behind = true;
            loose.words.push_back({word_form(word, context_), false, false});
        } else if (has_clusters && is_cluster(word)) {
            for (const char letter : word.substr(1)) {
                loose.words.push_back({std::string("-") + letter, true, false});
            }
        } else {
            append_loose(loose.words, word, context_);
        }
    }
    std::vector<std::string> sorted;
    for (const LooseWords::Word& word : loose.words) sorted.push_back(word.text);
    std::ranges::sort(sorted);
    form_.text += '~';
    append_all(form_.text, sorted);
    form_.loose.push_back(std::move(loose));
}

/// One use of an option and the word behind it, if that is none itself.
struct Use {
    const LooseWords::Word* option;
    const LooseWords::Word* next;
};

std::vector<Use> uses_of(const LooseWords& words, const std::string& option) {
    std::vector<Use> uses;
    for (std::size_t i = 0; i < words.words.size(); ++i) {
        if (!words.words[i].is_option || words.words[i].text != option) continue;
        const bool has_next = i + 1 < words.words.size() && !words.words[i + 1].is_option;
        uses.push_back({&words.words[i], has_next ? &words.words[i + 1] : nullptr});
    }
    return uses;
}

bool is_without_value(const Use& use) { return use.next == nullptr; }
bool is_bound(const Use& use) { return use.option->is_bound; }

/// Adds the values that belong to the option to `taken`. False where the two cannot be the same.
bool take_values(const std::vector<Use>& a, const std::vector<Use>& b,
                 std::set<const LooseWords::Word*>& taken) {
    if (a.size() != b.size()) return false;
    const bool takes_none =
        std::ranges::any_of(a, is_without_value) || std::ranges::any_of(b, is_without_value);
    const bool has_bound = std::ranges::any_of(a, is_bound) || std::ranges::any_of(b, is_bound);
    if (takes_none) return !has_bound;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].next->text != b[i].next->text) return false;
        taken.insert(a[i].next);
        taken.insert(b[i].next);
    }
    return true;
}

std::vector<std::string> operands_of(const LooseWords& words,
                                     const std::set<const LooseWords::Word*>& taken) {
    std::vector<std::string> operands;
    for (const LooseWords::Word& word : words.words) {
        if (!word.is_option && !taken.contains(&word)) operands.push_back(word.text);
    }
    return operands;
}

}  // namespace

std::optional<CommandForm> command_form(std::string_view text,
                                        const std::vector<std::string>& further,
                                        const PathContext& context) {
    std::optional<std::vector<SimpleCommand>> commands = read_shell(plain_form(text));
    if (!commands || commands->empty()) return std::nullopt;
    for (const std::string& word : further) {
        std::string literal;
        append_literal(literal, plain_form(word));
        commands->back().words.push_back(std::move(literal));
    }
    Builder builder(context);
    builder.add(std::move(*commands), 0);
    return builder.take();
}

CommandForm command_form(const std::vector<std::string>& words, const PathContext& context) {
    SimpleCommand command;
    for (const std::string& word : words) {
        append_literal(command.words.emplace_back(), plain_form(word));
    }
    Builder builder(context);
    builder.add({std::move(command)}, 0);
    return builder.take();
}

bool is_same(const LooseWords& a, const LooseWords& b) {
    if (a.words == b.words) return true;
    if (a.words.size() > words_max) return false;
    std::set<std::string> options;
    for (const LooseWords::Word& word : a.words) {
        if (word.is_option) options.insert(word.text);
    }
    std::set<const LooseWords::Word*> taken;
    for (const std::string& option : options) {
        if (!take_values(uses_of(a, option), uses_of(b, option), taken)) return false;
    }
    return operands_of(a, taken) == operands_of(b, taken);
}

}  // namespace holdpoint::agent::feedback
