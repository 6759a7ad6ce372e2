#include "policy/shell/search.h"

#include <algorithm>
#include <array>
#include <limits>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "base/ascii.h"
#include "policy/shell/programs.h"
#include "policy/shell/words.h"

namespace holdpoint::policy::shell {
namespace {

constexpr std::size_t wrapper_words_max = 64;  // that are looked at for the program wrapped
constexpr std::size_t programs_max = 256;      // that one command may hold

using ascii::lower;

/// `NAME=value`, `NAME+=value`, `NAME[1]=value`.
bool is_assignment(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) return false;
    const char first = word[0];
    if (!(lower(first) >= 'a' && lower(first) <= 'z') && first != '_') return false;
    return std::ranges::none_of(word.substr(0, equals),
                                [](char c) { return c == '/' || c == '-' || c == ' '; });
}

/// What a word does when it stands where a program stands; a bit each.
enum Trait : unsigned {
    leading = 1,           ///< a word of the grammar: the program comes next
    wraps = 2,             ///< runs the command in its arguments
    wraps_behind_one = 4,  ///< the same, behind a time, a host or a folder
    runs_text = 8,         ///< takes a text for a shell among its arguments
    is_shell = 16,         ///< reads its arguments or its input as commands
    is_finder = 32,        ///< runs what stands behind -exec
    is_container = 64      ///< runs what stands behind exec or run
};

struct TraitList {
    Trait trait;
    std::string_view words;
};

constexpr std::array trait_lists = std::to_array<TraitList>({
    {leading, "if then else elif while until do ! time coproc { }"},
    {runs_text,
     "eval watch ssh rsh mosh parallel sem hyperfine su runuser script flock sg trap env nix-shell "
     "entr watchexec nodemon pdsh pssh xterm tmux screen at batch"},
    {is_shell,
     "sh bash rbash dash ash zsh ksh mksh yash fish csh tcsh busybox toybox pwsh powershell cmd "
     "osascript source . mapfile readarray"},
    {wraps_behind_one,
     "timeout chrt taskset flock chroot ssh rsh mosh su runuser faketime gosu su-exec setarch sg "
     "setuidgid chpst schroot lxc-attach cpulimit softlimit machinectl coproc sshpass ansible "
     "envdir service"},
    {wraps,
     "env sudo doas command builtin exec nohup nice ionice time setsid stdbuf xargs strace ltrace "
     "busybox toybox unbuffer watch parallel pkexec run0 fakeroot systemd-run caffeinate npx bunx "
     "pnpx uvx rlwrap valgrind perf eatmydata torsocks torify proxychains xvfb-run firejail "
     "unshare "
     "nsenter prlimit numactl setpriv chronic script trap"},
    {is_finder, "find gfind bfs fd fdfind"},
    {is_container, "docker podman nerdctl docker-compose podman-compose kubectl oc lxc"},
});

using Traits = std::unordered_map<std::string_view, unsigned>;

Traits make_traits() {
    Traits traits;
    for (const TraitList& list : trait_lists) {
        for (const auto part : std::views::split(list.words, ' ')) {
            traits[std::string_view(part.begin(), part.end())] |= list.trait;
        }
    }
    return traits;
}

/// In any case of letters. A wrapper that only the table of programs knows may name something else
/// first.
unsigned traits_of(std::string_view program) {
    static const Traits known = make_traits();
    std::array<char, 32> buffer;
    if (program.empty() || program.size() > buffer.size()) return 0;
    std::ranges::transform(program, buffer.begin(), lower);
    const std::string_view name(buffer.data(), program.size());
    if (const auto found = known.find(name); found != known.end()) return found->second;
    const Program* listed = find_program(name);
    return listed && listed->kind == ProgramKind::wrapper ? wraps_behind_one : 0U;
}

bool is_exec_option(std::string_view word) {
    constexpr std::array options = std::to_array<std::string_view>(
        {"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"});
    return is_option(word) && std::ranges::find(options, word) != options.end();
}

bool is_container_run(std::string_view word) {
    return word == "exec" || word == "run" || word == "rsh" || word == "debug";
}

/// Nothing in it would be read in another way a second time.
bool is_plain(std::string_view word) {
    return word.find_first_of(" \t\n;&|<>()$`'\"\\{}#") == std::string_view::npos;
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
        const unsigned traits = traits_of(base_name(text));
        if ((is_value || (traits & leading) != 0) && i + 1 < count) {
            marks_[i + 1] = std::max(marks_[i + 1], marks_[i]);
            if (is_value) continue;
        }
        if (++programs > programs_max) {
            is_complete_ = false;
            return;
        }
        look_at(first + i, end, traits, command, depth);
    }
}

/// A word that may be a program, and what it may run in turn.
void Search::look_at(std::size_t at, std::size_t end, unsigned traits, const LexedCommand& command,
                     int depth) {
    found_.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end - at),
                      command.pipeline, command.stage});
    if (traits == 0) return;
    const std::size_t first = end - marks_.size();
    const int chain = marks_[at - first];
    if ((traits & (wraps | wraps_behind_one)) != 0) {
        mark_wrapped(at, end, (traits & wraps_behind_one) != 0 ? 1 : 0, chain);
    }
    for (std::size_t i = at + 1; i + 1 < end && (traits & (is_finder | is_container)) != 0; ++i) {
        if ((traits & is_finder) != 0 && is_exec_option(word(i))) mark(i + 1 - first, chain + 1);
        if ((traits & is_container) != 0 && is_container_run(word(i))) {
            mark_wrapped(i, end, 1, chain);
            break;
        }
    }
    if ((traits & (is_shell | runs_text)) != 0) {
        reread_each(at + 1, words_.size(), (traits & is_shell) != 0, command, depth);
    }
    if ((traits & runs_text) != 0) reread_joined(at + 1, end, command, depth);
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
void Search::reread_each(std::size_t from, std::size_t end, bool for_shell,
                         const LexedCommand& command, int depth) {
    bool is_behind_option = false;
    for (std::size_t i = from; i < end; ++i) {
        const LexedWord one = words_[i];
        const std::string_view text = word(i);
        const bool is_script =
            !is_plain(text) || (for_shell && (is_behind_option || one.is_target));
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
