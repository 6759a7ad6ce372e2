#include "policy/shell/program_table.h"

#include <array>

namespace holdpoint::policy::shell {
namespace {

constexpr std::string_view git_longs =
    "--output --output-directory --ext-diff --textconv --filters --exec --exec-path "
    "--upload-pack --receive-pack --open-files-in-pager --extcmd --template --config --config-env "
    "--git-dir --work-tree --namespace --super-prefix --edit-description --interactive "
    "--show-signature --export-marks --index-output --unsafe-paths --separate-git-dir --bundle-uri "
    "--sendmail-cmd";

constexpr std::string_view git_never =
    "config bundle bisect submodule difftool mergetool send-email filter-branch hook shell "
    "daemon instaweb gui citool gitk web--browse help worktree checkout-index merge-index "
    "merge-file merge-one-file mailsplit mailinfo pack-objects index-pack unpack-file "
    "unpack-objects fast-import fast-export read-tree bugreport diagnose credential "
    "credential-store "
    "credential-cache upload-pack receive-pack upload-archive http-backend imap-send svn p4 "
    "cvsserver cvsimport cvsexportcommit archimport quiltimport remote-ext remote-fd "
    "remote-http remote-https remote-ftp init-db scalar maintenance subtree lfs annex flow alias "
    "for-each-repo fsmonitor--daemon update-index update-ref clone init mv apply am";

constexpr std::array managed_table = std::to_array<Program>({
    // Package managers and clouds: the subcommand decides, so a pattern must name it.
    {"npm",
     {},
     true,
     "exec x explore init innit create edit config c set help publish unpublish adduser "
     "login token owner access hook org profile star team deprecate dist-tag",
     {.shorts = "Cc",
      .longs =
          "--script-shell --prefix --node-options --userconfig --globalconfig --shell --editor "
          "--viewer --browser --git --registry --init-module --call --package --onload-script "
          "--cafile "
          "--proxy --https-proxy --cache --workspace-root --location --pack-destination --dir "
          "--node-gyp",
      .parts = ":registry"}},
    {"yarn",
     {},
     true,
     "dlx exec create init node config set plugin publish login unplug patch patch-commit",
     {.longs = "--cwd --use-yarnrc --modules-folder --registry --script-shell --cache-folder "
               "--global-folder "
               "--link-folder --preferred-cache-folder --proxy --https-proxy --rc-file"}},
    {"pnpm",
     {},
     true,
     "exec dlx create init config c set env setup publish server patch patch-commit",
     {.shorts = "C",
      .longs = "--dir --prefix --shell-emulator --script-shell --config --registry --store-dir "
               "--virtual-store-dir --modules-dir --global-dir --use-node-version --lockfile-dir "
               "--node-options"}},
    {"corepack", {}, true, "npm yarn pnpm", {}},
    {"pip",
     {},
     true,
     "config",
     {.shorts = "tife",
      .valued_shorts = "rc",
      .longs =
          "--target --prefix --root --index-url --extra-index-url --find-links --editable "
          "--config-settings --global-option --install-option --build-option --log --cache-dir "
          "--python "
          "--proxy --cert --client-cert --src --dest --wheel-dir --build --trusted-host --report"}},
    {"pipx",
     {},
     true,
     "run runpip environment",
     {.longs = "--index-url --pip-args --python --backend --editable"}},
    {"uv",
     {},
     true,
     "run tool x python self publish",
     {.longs = "--directory --project --config-file --index "
               "--index-url --default-index --extra-index-url --find-links --python --cache-dir "
               "--target --prefix"}},
    {"uvx", ProgramKind::interpreter, false, {}, {}},
    {"poetry",
     {},
     true,
     "run shell config publish source self",
     {.shorts = "CP", .longs = "--directory --project"}},
    {"pdm",
     {},
     true,
     "run config plugin self publish",
     {.shorts = "pc", .longs = "--project --config"}},
    {"conda",
     {},
     true,
     "run config init activate",
     {.shorts = "pncf", .longs = "--prefix --name --channel --file"}},
    {"gem",
     {},
     true,
     "exec push open",
     {.longs = "--config-file --install-dir --bindir --source --clear-sources"}},
    {"bundle",
     {},
     true,
     "exec open console config plugin gem",
     {.longs = "--gemfile --path --binstubs --shebang"}},
    {"composer",
     {},
     true,
     "exec run-script global config init create-project self-update",
     {.shorts = "d", .longs = "--working-dir"}},
    {"dotnet",
     {},
     true,
     "exec run script fsi tool new nuget msbuild vstest",
     {.shorts = "o",
      .longs =
          "--output --property --configfile --source --additionalprobingpath --logger --settings",
      .parts = "-p: /p: -property: /property:"}},
    {"nuget", {}, true, {}, {}},
    {"brew", {}, true, "sh ruby irb edit create developer", {}},
    {"apt",
     {},
     true,
     "edit-sources changelog",
     {.shorts = "oc", .longs = "--option --config-file"}},
    {"apt-get",
     {},
     true,
     "changelog source build-dep",
     {.shorts = "oc", .longs = "--option --config-file"}},
    {"apt-cache",
     {},
     true,
     {},
     {.shorts = "oc", .longs = "--option --config-file --pkg-cache --src-cache"}},
    {"apt-config", ProgramKind::wrapper, false, {}, {}},
    {"aptitude", ProgramKind::interpreter, false, {}, {}},
    {"dnf",
     {},
     true,
     "shell",
     {.shorts = "c", .longs = "--config --setopt --installroot --repofrompath"}},
    {"yum", {}, true, "shell", {.shorts = "c", .longs = "--config --setopt --installroot"}},
    {"apk",
     {},
     true,
     {},
     {.shorts = "pX", .longs = "--root --repository --keys-dir --repositories-file"}},
    {"pacman",
     {},
     true,
     {},
     {.longs = "--config --root --dbpath --hookdir --gpgdir --cachedir --logfile"}},
    {"docker",
     {},
     true,
     "run exec create cp save export load import container compose buildx builder swarm "
     "service stack plugin context trust checkpoint config secret attach commit",
     {.shorts = "Hov",
      .longs = "--host --config --context --output --volume --mount --iidfile --cidfile "
               "--metadata-file --privileged --ssh --secret"}},
    {"podman",
     {},
     true,
     "run exec create cp save export load import container compose machine unshare kube play "
     "generate mount attach commit farm system",
     {.shorts = "ov",
      .longs = "--url --connection --identity --output --volume --mount --iidfile --cidfile "
               "--root --runroot --runtime --hooks-dir --module --privileged --ssh --secret"}},
    {"nerdctl",
     {},
     true,
     "run exec create cp save export load import container compose builder",
     {.shorts = "Hov"}},
    {"docker-compose",
     {},
     true,
     "run exec cp",
     {.shorts = "f", .longs = "--file --project-directory --env-file"}},
    {"kubectl",
     {},
     true,
     "exec run cp debug edit attach proxy port-forward plugin config krew alpha kustomize",
     {.shorts = "s",
      .valued_shorts = "cfklLnop",
      .longs =
          "--kubeconfig --server --as --as-group --token --user "
          "--cluster --context --cache-dir --profile --profile-output --log-file --log-dir "
          "--client-certificate --client-key --certificate-authority --insecure-skip-tls-verify "
          "--output-directory --raw --tls-server-name"}},
    {"oc",
     {},
     true,
     "exec run cp debug edit attach proxy port-forward plugin config rsh rsync login",
     {.shorts = "s",
      .valued_shorts = "cfklLnop",
      .longs = "--kubeconfig --server --as --token --user --cluster "
               "--context --cache-dir --profile-output --log-file"}},
    {"helm",
     {},
     true,
     "plugin create registry",
     {.longs = "--post-renderer --post-renderer-args --kubeconfig "
               "--kube-apiserver --kube-token --output-dir --registry-config --repository-config "
               "--repository-cache "
               "--destination --untardir --keyring --kube-context"}},
    {"kustomize",
     {},
     true,
     "edit cfg fn",
     {.shorts = "o",
      .longs = "--enable-exec --enable-alpha-plugins "
               "--enable-helm --helm-command --output --mount --network --load-restrictor"}},
    {"terraform",
     {},
     true,
     "console workspace login",
     {.flags =
          "chdir plugin-dir out state state-out backup "
          "backend-config generate-config-out from-module config lock-file target-dir junit-xml"}},
    {"tofu",
     {},
     true,
     "console workspace login",
     {.flags = "chdir plugin-dir out state state-out backup "
               "backend-config generate-config-out from-module config"}},
    {"terragrunt", ProgramKind::interpreter, false, {}, {}},
    {"packer", {}, true, "console plugins", {.flags = "config"}},
    {"pulumi",
     {},
     true,
     "plugin config login new",
     {.shorts = "C", .longs = "--cwd --exec-kind --policy-pack --tracing"}},
    {"ansible", ProgramKind::wrapper, false, {}, {}},
    {"ansible-playbook", ProgramKind::interpreter, false, {}, {}},
    {"aws",
     {},
     true,
     "configure ssm emr ecs eks",
     {.longs = "--endpoint-url --profile --ca-bundle --cli-input-json "
               "--cli-input-yaml --no-verify-ssl --outfile"}},
    {"gcloud",
     {},
     true,
     "ssh scp config auth init",
     {.longs = "--configuration --flags-file --account "
               "--impersonate-service-account --log-http --access-token-file"}},
    {"gsutil", {}, true, {}, {.shorts = "o"}},
    {"az", {}, true, "configure login rest extension ssh config", {}},
    {"gh",
     {},
     true,
     "alias extension ext codespace cs config auth api secret variable ssh-key gpg-key",
     {.longs = "--hostname --editor --web --body-file --output --dir --clobber"}},
    {"glab", {}, true, "alias config auth api ssh-key", {.longs = "--web --output"}},
    {"hg",
     {},
     true,
     "debugshell extdiff histedit serve",
     {.longs = "--config --config-file --cwd --repository --ssh --remotecmd --output --program "
               "--option --tool"}},
    {"svn",
     {},
     true,
     {},
     {.longs = "--config-option --config-dir --diff-cmd --diff3-cmd --editor-cmd"}},
    {"systemctl",
     {},
     true,
     "edit set-environment import-environment link",
     {.shorts = "H", .longs = "--host --root --machine --image"}},
    {"service", ProgramKind::wrapper, false, {}, {}},
    {"openssl",
     {},
     true,
     "engine",
     {.flags = "out engine provider provider-path keyout config writerand rand "
               "CAcreateserial outdir sess_out keylogfile proxy loader_engine"}},
    {"git", {}, true, git_never, {.longs = git_longs, .parts = "ext:: fd::"}},
});

constexpr std::array subcommands = std::to_array<Subcommand>({
    {"git", "grep", {.shorts = "O", .valued_shorts = "eABCmf"}},
    {"git", "archive", {.shorts = "o", .longs = "--remote"}},
    {"git", "format-patch", {.shorts = "o"}},
    {"git", "rebase", {.shorts = "xi", .longs = "--edit-todo"}},
    {"git", "ls-remote", {.shorts = "u"}},
    {"git", "remote", {.longs = "--mirror"}},
    {"git", "commit", {.shorts = "t", .valued_shorts = "mFcCSu"}},
    // Listing is what people mean by it; these remove, move and redirect branches.
    {"git",
     "branch",
     {.shorts = "dDmMcCfu",
      .longs = "--edit-description --delete --move --copy --force --set-upstream-to "
               "--unset-upstream"}},
    {"git", "hash-object", {.shorts = "w"}},
    {"git", "interpret-trailers", {.longs = "--in-place"}},
});

}  // namespace

std::span<const Program> managed_programs() { return managed_table; }

std::span<const Subcommand> all_subcommands() { return subcommands; }

}  // namespace holdpoint::policy::shell
