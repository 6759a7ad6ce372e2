#include "policy/shell/programs.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "policy/shell/program_table.h"

namespace holdpoint::policy::shell {
namespace {

// They change what later words of the line mean, or evaluate an argument: `unset 'a[$(id)]'`.
constexpr std::string_view builtins =
    ". source alias bg bind break builtin caller cd chdir command compgen complete compopt "
    "continue declare dirs disown enable eval exec exit export fc fg getopts hash history jobs "
    "let local logout mapfile popd pushd read readarray readonly return set shift shopt suspend "
    "trap typeset ulimit umask unalias unset wait [ [[";

constexpr std::string_view wrappers =
    "agetty at batch bwrap busybox caffeinate capsh catchsegv cgexec chpst chronic chroot chrt "
    "coproc coreutils crontab cpulimit daemon daemonize dbus-run-session dbus-launch direnv "
    "doas dotenv dumb-init entr env envdir eatmydata expect fakechroot fakeroot faketime "
    "firejail flatpak flock foreman gdb gdbserver gosu heaptrack hyperfine i386 ifne "
    "inotifywait ionice ldd linux32 linux64 lldb logsave login ltrace lxc lxc-attach machinectl "
    "mispipe mosh multipass nc ncat netcat newgrp nice nix-shell nocache nodemon nohup nsenter "
    "numactl open parallel pee perf pkexec prlimit proot proxychains proxychains4 pdsh pssh "
    "reptyr rlwrap rsh run-parts run0 runcon runuser runsv s6-setuidgid schroot screen script "
    "sem setarch setpriv setsid setuidgid sg slirp4netns snap socat softlimit sshpass ssh "
    "ssh-agent start-stop-daemon stdbuf strace su su-exec sudo sudoedit systemd-inhibit "
    "systemd-nspawn systemd-run taskset telnet time timeout tini tmux toolbox torify torsocks "
    "toybox "
    "trickle truss ts-node tsocks unbuffer uname26 unshare valgrind vagrant watch watchexec "
    "watchman winpty wine with-contenv x86_64 xargs xdg-open xinit xterm xvfb-run zrun choom "
    "uclampset systemd-cat systemd-socket-activate sotruss lckdo dpkg-architecture prove "
    "scriptlive";

constexpr std::string_view interpreters =
    // shells
    "sh bash rbash dash ash zsh ksh ksh93 mksh pdksh oksh yash posh fish csh tcsh rc es elvish "
    "nu nushell xonsh osh ysh pwsh powershell cmd "
    // text processors with commands of their own
    "awk gawk mawk nawk original-awk sed gsed ssed m4 dc ed ex red vi vim vim.basic vim.tiny "
    "view nvim nano pico rnano emacs emacsclient joe jed mcedit mc less more most pg man info "
    "pinfo lesspipe "
    // languages
    "perl python pypy pypy3 ipython jython ruby irb jruby node nodejs deno bun bunx npx pnpx "
    "tsx ts-node php php-cgi lua luajit texlua tclsh wish expect rscript Rscript R r julia java "
    "javaw jshell jrunscript scala groovy kotlin kotlinc-jvm clojure clj bb erl escript elixir "
    "iex mix ghci runghc runhaskell stack ocaml ocamlrun guile racket sbcl clisp ecl gforth gst "
    "swipl octave maxima gp sage gnuplot bsh osascript swift dart crystal nim v rdmd raku "
    "rakudo parrot pike io newlisp janet wasmtime wasmer qjs d8 "
    // databases and debuggers with a shell inside
    "sqlite3 sqlite psql mysql mariadb mongo mongosh redis-cli duckdb influx cqlsh sqlplus "
    "clickhouse ftp lftp tftp sftp gdb-multiarch radare2 r2 msfconsole tcl xsltproc pdflatex "
    "latex xelatex lualatex tex pdftex ghostscript gs convert magick mogrify ffmpeg zless zmore "
    "bzless bzmore xzless xzmore vipe cpan xauth";

// Whoever may name the file may overwrite anything the agent can write.
constexpr std::string_view writers =
    "cp mv ln link unlink install dd tee sponge truncate split csplit shred touch mkdir mkfifo "
    "mknod mktemp rm rmdir chmod chown chgrp chattr setfacl setfattr rename prename mmv rsync "
    "rclone scp wget aria2c axel bsdtar gtar cpio pax ar zip zipcloak unzip 7z 7za 7zr rar "
    "unrar gzip gunzip pigz bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 compress "
    "uncompress patch gcc g++ cc c++ clang clang++ ld ld.lld lld mold as objcopy strip rustc "
    "ghc javac kotlinc scalac nasm yasm tsc black isort autopep8 yapf gofmt rustfmt "
    "clang-format gpg gpg2 ssh-keygen ssh-copy-id age mkfs fdisk parted sgdisk mkswap mount umount "
    "losetup swapon shutdown reboot halt poweroff kill killall pkill useradd userdel usermod "
    "passwd chsh chfn visudo vipw iptables nft ufw sysctl modprobe insmod rmmod dpkg rpm ctags "
    "etags cscope pandoc wkhtmltopdf dos2unix unix2dos recode uudecode lp lpr mail mailx "
    "sendmail msmtp swaks cpp bison yacc flex lex xgettext msgfmt localedef update-alternatives "
    "tic pod2man pod2text pod2html ptar gzexe bzexe chcon ldconfig ranlib elfedit dpkg-deb "
    "dpkg-divert debconf-set-selections rename.ul";

bool is_version_character(char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; }

template <class Visit>
void each_word(std::string_view list, Visit visit) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(' '), list.size());
        if (end > 0) visit(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
}

using Index = std::unordered_map<std::string_view, Program>;

Index make_index() {
    Index index;
    const auto add_all = [&](std::string_view list, ProgramKind kind) {
        each_word(list,
                  [&](std::string_view name) { index.try_emplace(name, Program{name, kind}); });
    };
    add_all(builtins, ProgramKind::builtin);
    add_all(wrappers, ProgramKind::wrapper);
    add_all(interpreters, ProgramKind::interpreter);
    add_all(writers, ProgramKind::writer);
    // A name in two places keeps the stricter: only what is in no list above gets options.
    for (const auto table : {everyday_programs(), build_programs(), managed_programs()}) {
        for (const Program& program : table) index.try_emplace(program.name, program);
    }
    return index;
}

}  // namespace

const Program* find_program(std::string_view name) {
    static const Index index = make_index();
    if (const auto found = index.find(name); found != index.end()) return &found->second;
    std::string_view plain = name;
    while (!plain.empty() && is_version_character(plain.back())) plain.remove_suffix(1);
    if (plain.empty() || plain.size() == name.size()) return nullptr;
    const auto found = index.find(plain);
    return found == index.end() ? nullptr : &found->second;
}

const Subcommand* find_subcommand(std::string_view program, std::string_view name) {
    for (const Subcommand& candidate : all_subcommands()) {
        if (candidate.program == program && candidate.name == name) return &candidate;
    }
    return nullptr;
}

}  // namespace holdpoint::policy::shell
