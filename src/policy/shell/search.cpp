#include "policy/shell/search.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "policy/shell/programs.h"

namespace holdpoint::policy::shell {
namespace {

constexpr std::size_t wrapper_words_max = 64;  // that are looked at for the program wrapped
constexpr std::size_t programs_max = 256;      // that one command may hold

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_in_any_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view base_name(std::string_view program) {
    const std::size_t slash = program.rfind('/');
    return slash == std::string_view::npos ? program : program.substr(slash + 1);
}

bool is_option(std::string_view word) { return word.size() > 1 && word[0] == '-'; }

/// `NAME=value`, `NAME+=value`, `NAME[1]=value`.
bool is_assignment(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) return false;
    const char first = word[0];
    if (!(lower(first) >= 'a' && lower(first) <= 'z') && first != '_') return false;
    return std::ranges::none_of(word.substr(0, equals),
                                [](char c) { return c == '/' || c == '-' || c == ' '; });
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
    return std::ranges::any_of(
        words, [&](std::string_view other) { return equal_in_any_case(word, other); });
}

constexpr std::array leading_words = std::to_array<std::string_view>(
    {"if", "then", "else", "elif", "while", "until", "do", "!", "time", "coproc", "{", "}"});

/// Wrappers whose arguments are also, or instead, a text for a shell.
constexpr std::array text_runners = std::to_array<std::string_view>(
    {"eval",      "watch",     "ssh",     "rsh",       "mosh",    "parallel", "sem",
     "hyperfine", "su",        "runuser", "script",    "flock",   "sg",       "trap",
     "env",       "nix-shell", "entr",    "watchexec", "nodemon", "pdsh",     "pssh",
     "xterm",     "tmux",      "screen",  "at",        "batch"});

constexpr std::array shells = std::to_array<std::string_view>(
    {"sh",   "bash",      "rbash",  "dash", "ash",     "zsh",      "ksh",  "mksh",
     "yash", "fish",      "csh",    "tcsh", "busybox", "toybox",   "pwsh", "powershell",
     "cmd",  "osascript", "source", ".",    "mapfile", "readarray"});

/// Wrappers that name something else before the command: a time, a host, a folder.
constexpr std::array one_operand = std::to_array<std::string_view>(
    {"timeout",    "chrt",      "taskset", "flock",    "chroot",     "ssh",      "rsh",
     "mosh",       "su",        "runuser", "faketime", "gosu",       "su-exec",  "setarch",
     "sg",         "setuidgid", "chpst",   "schroot",  "lxc-attach", "cpulimit", "softlimit",
     "machinectl", "coproc",    "sshpass", "ansible",  "envdir",     "service"});

constexpr std::array no_operand = std::to_array<std::string_view>(
    {"env",         "sudo",     "doas",        "command",    "builtin",   "exec",     "nohup",
     "nice",        "ionice",   "time",        "setsid",     "stdbuf",    "xargs",    "strace",
     "ltrace",      "busybox",  "toybox",      "unbuffer",   "watch",     "parallel", "pkexec",
     "run0",        "fakeroot", "systemd-run", "caffeinate", "npx",       "bunx",     "pnpx",
     "uvx",         "rlwrap",   "valgrind",    "perf",       "eatmydata", "torsocks", "torify",
     "proxychains", "xvfb-run", "firejail",    "unshare",    "nsenter",   "prlimit",  "numactl",
     "setpriv",     "chronic",  "script",      "trap"});

constexpr std::array finders =
    std::to_array<std::string_view>({"find", "gfind", "bfs", "fd", "fdfind"});

constexpr std::array exec_options = std::to_array<std::string_view>(
    {"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"});

constexpr std::array containers = std::to_array<std::string_view>(
    {"docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc", "lxc"});
constexpr std::array container_runs =
    std::to_array<std::string_view>({"exec", "run", "rsh", "debug"});

/// Nothing in it would be read in another way a second time.
bool is_plain(std::string_view word) {
    return word.find_first_of(" \t\n;&|<>()$`'\"\\{}#") == std::string_view::npos;
}

/// How many words before the wrapped command are something else; negative for no wrapper.
int operands_of(std::string_view program) {
    if (is_one_of(program, no_operand)) return 0;
    if (is_one_of(program, one_operand)) return 1;
    const Program* known = find_program(program);
    return known && known->kind == ProgramKind::wrapper ? 1 : -1;
}

}  // namespace

void Search::read(std::string_view text) {
    text_.clear();
    words_.clear();
    found_.clear();
    pending_.clear();
    pipelines_ = 0;
    is_complete_ = true;
    if (text.size() > std::numeric_limits<std::uint32_t>::max() / 64) {
        is_complete_ = false;
        return;
    }
    budget_ = 16 * text.size() + 4096;
    read_level(text, {0, 0, 0, 0, 0, false});
    while (!pending_.empty()) {
        const Pending next = pending_.back();
        pending_.pop_back();
        current_.assign(text_, next.offset, next.length);
        read_level(current_, next);
    }
    std::ranges::sort(found_, {},
                      [](const Found& found) { return std::pair(found.pipeline, found.stage); });
}

void Search::read_level(std::string_view text, const Pending& level) {
    const int depth = level.depth;
    const Lexer::Take take_one = [this, depth](const LexedCommand& command) {
        take(command, depth);
    };
    const Lexer::Start start{level.pipeline, level.stage, level.is_piped};
    lexer_.read(text, Lexer::Quotes::honoured, start, text_, pipelines_, take_one);
    is_complete_ = is_complete_ && lexer_.is_complete();
    if (!lexer_.is_uncertain() || text.find_first_of("'\"") == std::string_view::npos) return;
    lexer_.read(text, Lexer::Quotes::ignored, start, text_, pipelines_, take_one);
    is_complete_ = is_complete_ && lexer_.is_complete();
}

std::string_view Search::word(std::size_t index) const {
    return std::string_view(text_).substr(words_[index].offset, words_[index].length);
}

void Search::take(const LexedCommand& command, int depth) {
    const std::size_t first = words_.size();
    for (const LexedWord& word : *command.words) {
        if (!word.is_target) words_.push_back(word);
    }
    const std::size_t end = words_.size();
    for (const LexedWord& word : *command.words) {
        if (word.is_target) words_.push_back(word);
    }
    const std::size_t count = end - first;
    marks_.assign(count, 0);
    if (count > 0) marks_[0] = 1;
    std::size_t programs = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (marks_[i] == 0) continue;
        const std::string_view text = word(first + i);
        const bool is_value = is_assignment(text);
        if ((is_value || is_one_of(text, leading_words)) && i + 1 < count) {
            marks_[i + 1] = std::max(marks_[i + 1], marks_[i]);
            if (is_value) continue;
        }
        if (++programs > programs_max) {
            is_complete_ = false;
            return;
        }
        look_at(first + i, end, command, depth);
    }
}

/// A word that may be a program, and what it may run in turn.
void Search::look_at(std::size_t at, std::size_t end, const LexedCommand& command, int depth) {
    found_.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end - at),
                      command.pipeline, command.stage});
    const std::string_view program = base_name(word(at));
    const std::size_t first = end - marks_.size();
    const int chain = marks_[at - first];
    if (const int operands = operands_of(program); operands >= 0) {
        mark_wrapped(at, end, operands, chain);
    } else if (is_one_of(program, finders)) {
        for (std::size_t i = at + 1; i + 1 < end; ++i) {
            if (is_one_of(word(i), exec_options)) mark(i + 1 - first, chain + 1);
        }
    } else if (is_one_of(program, containers)) {
        for (std::size_t i = at + 1; i + 1 < end; ++i) {
            if (!is_one_of(word(i), container_runs)) continue;
            mark_wrapped(i, end, 1, chain);
            break;
        }
    }
    // Reading again appends to the text that `program` looks into: ask first.
    const bool is_shell = is_one_of(program, shells);
    const bool runs_text = is_one_of(program, text_runners);
    if (is_shell || runs_text) reread_each(at + 1, words_.size(), is_shell, command, depth);
    if (runs_text) reread_joined(at + 1, end, command, depth);
}

void Search::mark(std::size_t place, int chain) {
    if (chain > depth_max) {
        is_complete_ = false;
        return;
    }
    marks_[place] = std::max(marks_[place], static_cast<std::uint8_t>(chain));
}

/// A word behind an option may be the option's value or the program: both are looked at.
void Search::mark_wrapped(std::size_t at, std::size_t end, int operands, int chain) {
    const std::size_t first = end - marks_.size();
    bool is_behind_option = false;
    for (std::size_t i = at + 1; i < end; ++i) {
        if (i - at > wrapper_words_max) {
            is_complete_ = false;
            return;
        }
        const std::string_view text = word(i);
        if (is_option(text)) {
            is_behind_option = true;
            continue;
        }
        if (is_assignment(text)) continue;
        mark(i - first, chain + 1);
        if (is_behind_option) {
            is_behind_option = false;
        } else if (operands-- == 0) {
            return;
        }
    }
}

void Search::push(std::size_t offset, std::size_t length, const LexedCommand& command, int depth) {
    if (length == 0) return;
    if (depth + 1 > depth_max || length > budget_) {
        is_complete_ = false;
        return;
    }
    budget_ -= length;
    pending_.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(length),
                        depth + 1, command.pipeline, command.stage, command.is_piped});
}

/// A plain word is a script only for a shell, behind an option or as its input; elsewhere it is a
/// program's argument and was looked at as such.
void Search::reread_each(std::size_t from, std::size_t end, bool is_shell,
                         const LexedCommand& command, int depth) {
    bool is_behind_option = false;
    for (std::size_t i = from; i < end; ++i) {
        const LexedWord one = words_[i];
        const std::string_view text = word(i);
        const bool is_script = !is_plain(text) || (is_shell && (is_behind_option || one.is_target));
        is_behind_option = is_option(text);
        if (!is_script) continue;
        // `--command=text` and `-Stext`: what stands behind is a text as well.
        std::size_t skipped = 0;
        if (is_option(text)) skipped = text.contains('=') ? text.find('=') + 1 : 2;
        push(one.offset + skipped, one.length - skipped, command, depth);
    }
}

void Search::reread_joined(std::size_t from, std::size_t end, const LexedCommand& command,
                           int depth) {
    if (from >= end) return;
    std::size_t length = 0;
    for (std::size_t i = from; i < end; ++i) length += words_[i].length + 1;
    if (length > budget_) {
        is_complete_ = false;
        return;
    }
    const std::size_t offset = text_.size();
    for (std::size_t i = from; i < end; ++i) {
        text_.append(text_, words_[i].offset, words_[i].length);
        text_ += ' ';
    }
    push(offset, length, command, depth);
}

std::vector<std::string> Search::words(std::size_t index) const {
    std::vector<std::string> result;
    const Found& found = found_[index];
    for (std::size_t i = 0; i < found.count; ++i) result.emplace_back(word(found.first + i));
    return result;
}

}  // namespace holdpoint::policy::shell
