#include "agent/feedback/options.h"

#include <algorithm>
#include <array>

#include "policy/shell/programs.h"

namespace holdpoint::agent::feedback {
namespace {

using enum Operands;
constexpr WordOrder free_order = WordOrder::free;
constexpr WordOrder fixed_order = WordOrder::fixed;

constexpr auto table = std::to_array<OptionForm>({
    // Files.
    {"rm", "", free_order, path_set, "", "", "force=f verbose=v recursive=r R=r dir=d"},
    {"rmdir", "", free_order, path_set, "", "", "parents=p verbose=v"},
    {"unlink", "", free_order, paths},
    {"mkdir", "", free_order, path_set, "m", "mode", "parents=p verbose=v mode=m"},
    {"touch", "", free_order, path_set, "drt", "date reference time",
     "no-create=c date=d reference=r"},
    {"cp", "", free_order, paths, "tS", "target-directory suffix",
     "recursive=r R=r archive=a force=f interactive=i no-clobber=n verbose=v update=u "
     "target-directory=t suffix=S no-target-directory=T"},
    {"mv", "", free_order, paths, "tS", "target-directory suffix",
     "force=f interactive=i no-clobber=n verbose=v update=u target-directory=t suffix=S "
     "no-target-directory=T"},
    {"ln", "", free_order, paths, "tS", "target-directory suffix",
     "symbolic=s force=f no-dereference=n target-directory=t suffix=S verbose=v"},
    {"ls", "", free_order, path_set, "IwT", "ignore width tabsize",
     "all=a almost-all=A recursive=R human-readable=h reverse=r directory=d"},
    {"cat", "", free_order, paths, "", "", "number=n show-all=A"},
    {"head", "", free_order, paths, "nc", "lines bytes", "lines=n bytes=c quiet=q"},
    {"tail", "", free_order, paths, "nc", "lines bytes", "lines=n bytes=c quiet=q"},
    {"chmod", "", free_order, after_first, "", "reference", "recursive=R verbose=v changes=c"},
    {"chown", "", free_order, after_first, "", "from reference",
     "recursive=R verbose=v no-dereference=h"},
    {"chgrp", "", free_order, after_first, "", "reference", "recursive=R verbose=v"},
    {"shred", "", free_order, path_set, "ns", "iterations size",
     "force=f iterations=n size=s verbose=v zero=z"},
    {"truncate", "", free_order, path_set, "sr", "size reference",
     "size=s reference=r no-create=c"},
    {"grep", "", free_order, after_first, "efmABCdD",
     "regexp file max-count after-context before-context context",
     "ignore-case=i recursive=r line-number=n invert-match=v extended-regexp=E "
     "fixed-strings=F count=c word-regexp=w regexp=e file=f max-count=m files-with-matches=l"},
    {"wc", "", free_order, paths, "", "files0-from", "lines=l words=w bytes=c chars=m"},
    // Processes and services.
    {"kill", "", free_order, word_set, "s", "signal", "signal=s"},
    {"killall", "", free_order, word_set, "sou", "signal user", "signal=s user=u exact=e"},
    {"pkill", "", free_order, words, "gGPstuU", "signal parent user euid",
     "signal=s parent=P full=f exact=x"},
    {"systemctl", "", free_order, words, "tpHMnos", "type property host machine lines signal",
     "type=t signal=s quiet=q lines=n"},
    // Version control.
    {"git", "", free_order, words, "Cc", "git-dir work-tree namespace"},
    {"git", "add", free_order, path_set, "", "pathspec-from-file",
     "all=A force=f patch=p update=u verbose=v intent-to-add=N"},
    {"git", "rm", free_order, path_set, "", "pathspec-from-file", "force=f quiet=q"},
    {"git", "mv", free_order, paths, "", "", "force=f verbose=v"},
    {"git", "restore", free_order, path_set, "s", "source", "staged=S worktree=W source=s"},
    {"git", "commit", free_order, words, "mFCct",
     "message file author date reuse-message template fixup squash cleanup trailer",
     "message=m file=F all=a no-verify=n signoff=s quiet=q"},
    {"git", "push", free_order, words, "o", "push-option repo receive-pack",
     "force=f set-upstream=u delete=d dry-run=n push-option=o quiet=q"},
    {"git", "pull", free_order, words, "sX", "strategy strategy-option depth",
     "rebase=r quiet=q strategy=s"},
    {"git", "fetch", free_order, words, "jo", "depth upload-pack", "prune=p tags=t force=f all=a"},
    {"git", "clone", free_order, words, "bocju", "branch origin depth reference config template",
     "branch=b origin=o config=c"},
    {"git", "checkout", free_order, words, "bB", "orphan", "force=f quiet=q"},
    {"git", "switch", free_order, words, "cC", "orphan create force-create",
     "create=c force-create=C force=f detach=d"},
    {"git", "branch", free_order, words, "u", "set-upstream-to",
     "delete=d move=m copy=c force=f set-upstream-to=u all=a remotes=r"},
    {"git", "reset", free_order, words, "", "", "quiet=q patch=p"},
    {"git", "clean", free_order, path_set, "e", "exclude", "force=f dry-run=n exclude=e quiet=q"},
    {"git", "merge", free_order, words, "msXF", "message strategy strategy-option file",
     "message=m strategy=s strategy-option=X quiet=q"},
    {"git", "tag", free_order, words, "mFu", "message file local-user",
     "delete=d force=f message=m annotate=a sign=s file=F local-user=u"},
    {"git", "revert", free_order, words, "mX", "mainline strategy", "no-commit=n mainline=m"},
    // Packages; only for the subcommands where it is the same.
    {"npm", "", free_order, words, "", "prefix registry userconfig"},
    {"npm", "install", free_order, word_set, "w", "prefix registry workspace tag omit include",
     "save-dev=D save=S global=g force=f save-exact=E save-optional=O workspace=w"},
    {"npm", "uninstall", free_order, word_set, "w", "prefix registry workspace",
     "save-dev=D save=S global=g force=f workspace=w"},
    {"npm", "publish", free_order, words, "", "tag access otp registry"},
    {"pip", "", free_order, words, "", "log proxy timeout"},
    {"pip", "install", free_order, word_set, "recit",
     "requirement editable constraint index-url extra-index-url target prefix",
     "requirement=r editable=e constraint=c index-url=i target=t upgrade=U quiet=q"},
    {"pip", "uninstall", free_order, word_set, "r", "requirement", "yes=y requirement=r"},
    {"apt", "", free_order, words, "toc", "target-release option config-file",
     "yes=y assume-yes=y quiet=q target-release=t option=o"},
    {"apt", "install", free_order, word_set, "toc", "target-release option config-file",
     "yes=y assume-yes=y quiet=q target-release=t option=o"},
    {"apt", "remove", free_order, word_set, "toc", "target-release option config-file",
     "yes=y assume-yes=y quiet=q target-release=t option=o"},
    {"apt", "purge", free_order, word_set, "toc", "target-release option config-file",
     "yes=y assume-yes=y quiet=q target-release=t option=o"},
    // Containers and clusters.
    {"docker", "", free_order, words, "Hcl", "host context config log-level", "host=H context=c"},
    {"docker", "rm", free_order, word_set, "", "", "force=f volumes=v link=l"},
    {"docker", "rmi", free_order, word_set, "", "", "force=f"},
    {"docker", "stop", free_order, word_set, "ts", "time signal", "time=t signal=s"},
    {"docker", "kill", free_order, word_set, "s", "signal", "signal=s"},
    {"docker", "run", fixed_order, words},
    {"docker", "exec", fixed_order, words},
    {"kubectl", "", free_order, words, "nflocs",
     "namespace filename selector output container context kubeconfig cluster user replicas "
     "grace-period timeout server field-selector patch type from-literal from-file image",
     "namespace=n filename=f selector=l output=o container=c server=s all-namespaces=A "
     "kustomize=k"},
    {"kubectl", "exec", fixed_order, words},
    {"kubectl", "run", fixed_order, words},
    // Network.
    {"curl", "", free_order, words, "XHdFoubceATmxwEKCryYztQPD",
     "request header data data-raw data-binary data-urlencode form output user cookie cookie-jar "
     "referer user-agent upload-file max-time proxy write-out cert config continue-at range url "
     "connect-timeout retry json key cacert resolve dump-header",
     "request=X header=H data=d form=F output=o user=u cookie=b cookie-jar=c referer=e "
     "user-agent=A upload-file=T max-time=m proxy=x write-out=w silent=s location=L insecure=k "
     "fail=f include=i head=I show-error=S remote-name=O verbose=v get=G",
     "H b F"},
    {"wget", "", free_order, words, "OoaePtTwQUi",
     "output-document output-file append-output directory-prefix tries timeout wait user-agent "
     "input-file header post-data method body-data user password",
     "output-document=O output-file=o directory-prefix=P tries=t timeout=T quiet=q recursive=r "
     "continue=c no-verbose=nv"},
});

/// Programs whose words mean something by their order, beside those that run others.
constexpr std::string_view fixed_programs =
    "find echo printf test [ expr sed awk gawk mawk ffmpeg ffprobe convert magick sox tar rsync cc "
    "c++ gcc g++ clang clang++ ld jq iptables ip6tables ip nft tc openssl psql mysql sqlite3 dd "
    "seq tr cut paste join comm diff patch export set alias trap source . eval exec cd pushd for "
    "case select function let declare local readonly unset read getopts crontab at ansible";

constexpr std::string_view text_programs = "echo printf expr sed awk gawk mawk jq tr rsync test [";
constexpr std::string_view subcommand_programs = "git npm pip apt docker kubectl";

constexpr OptionForm fixed_form{"", "", fixed_order, words};

std::string_view main_name(std::string_view program) {
    if (program == "apt-get" || program == "aptitude") return "apt";
    if (program == "pip3") return "pip";
    if (program == "podman") return "docker";
    if (program == "egrep" || program == "fgrep") return "grep";
    return program;
}

std::string_view main_subcommand(std::string_view program, std::string_view subcommand) {
    if (program == "npm") {
        if (subcommand == "i" || subcommand == "add") return "install";
        if (subcommand == "rm" || subcommand == "un" || subcommand == "remove" ||
            subcommand == "r") {
            return "uninstall";
        }
    }
    return subcommand;
}

}  // namespace

bool lists(std::string_view words, std::string_view word) {
    while (!words.empty()) {
        const std::size_t end = std::min(words.find(' '), words.size());
        if (words.substr(0, end) == word) return true;
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return false;
}

const OptionForm* find_options(std::string_view program, std::string_view subcommand) {
    const std::string_view name = main_name(program);
    const std::string_view wanted = main_subcommand(name, subcommand);
    for (const OptionForm& form : table) {
        if (form.program == name && form.subcommand == wanted) return &form;
    }
    if (!wanted.empty())
        return name == "kubectl" || name == "apt" ? find_options(name, "") : nullptr;
    if (lists(fixed_programs, name)) return &fixed_form;
    const policy::shell::Program* known = policy::shell::find_program(name);
    using policy::shell::ProgramKind;
    const bool runs_others = known != nullptr && (known->kind == ProgramKind::wrapper ||
                                                  known->kind == ProgramKind::interpreter ||
                                                  known->kind == ProgramKind::builtin);
    return runs_others ? &fixed_form : nullptr;
}

bool has_subcommands(std::string_view program) {
    return lists(subcommand_programs, main_name(program));
}

bool takes_text(std::string_view program) { return lists(text_programs, program); }

}  // namespace holdpoint::agent::feedback
