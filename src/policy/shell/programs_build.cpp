#include "policy/shell/program_table.h"

#include <array>

namespace holdpoint::policy::shell {
namespace {

constexpr std::array build_table = std::to_array<Program>({
    // Building and testing. What the tree says is run anyway; these take it from elsewhere.
    {"make",
     {},
     false,
     {},
     {.shorts = "fCIE",
      .valued_shorts = "jlOoW",
      .longs = "--file --makefile --directory --include-dir --eval",
      .refuses_assignments = true}},
    {"gmake",
     {},
     false,
     {},
     {.shorts = "fCIE",
      .valued_shorts = "jlOoW",
      .longs = "--file --makefile --directory --include-dir --eval",
      .refuses_assignments = true}},
    {"just",
     {},
     false,
     {},
     {.shorts = "fdceE",
      .longs =
          "--justfile --working-directory --command --edit --shell "
          "--shell-arg --set --choose --chooser --dotenv-path --dotenv-filename --evaluate --init",
      .refuses_assignments = true}},
    {"ninja", {}, false, {}, {.shorts = "fCt", .valued_shorts = "jkldw"}},
    {"samu", {}, false, {}, {.shorts = "fCt", .valued_shorts = "jkldw"}},
    {"meson",
     {},
     true,
     "devenv",
     {.shorts = "CD",
      .longs = "--native-file --cross-file --wrap-mode --wrapper --gdb "
               "--gdb-path --logbase --destdir"}},
    {"cmake",
     {},
     false,
     {},
     {.shorts = "PEDCSBGTAU",
      .longs = "--build --install --open --workflow --preset --toolchain --find-package --graphviz "
               "--trace-redirect --profiling-output --debugger --debugger-pipe --debugger-dap-log "
               "--system-information --install-prefix --project-file --script --target"}},
    {"ctest",
     {},
     false,
     {},
     {.shorts = "SDTMOA",
      .valued_shorts = "RELUIFCj",
      .longs = "--script --script-new-process --dashboard --build-and-test --build-generator "
               "--build-makeprogram "
               "--build-exe-dir --build-run-dir --build-options --test-command --output-log "
               "--output-junit "
               "--add-notes --extra-submit --submit-index --test-action --test-model --test-dir "
               "--overwrite --resource-spec-file --group"}},
    {"cargo",
     {},
     true,
     "rustc rustdoc config login publish yank owner script eval",
     {.shorts = "ZC",
      .valued_shorts = "Fjp",
      .longs = "--config --manifest-path --target-dir --artifact-dir --out-dir --root --git --path "
               "--index "
               "--registry --lockfile-path"}},
    {"rustup", {}, true, "run", {}},
    {"go",
     {},
     true,
     "run generate tool env telemetry",
     {.flags = "exec toolexec o c C modfile overlay vettool ldflags gcflags asmflags gccgoflags "
               "compiler "
               "pkgdir modcacherw installsuffix outputdir coverprofile cpuprofile memprofile "
               "blockprofile "
               "mutexprofile trace test.outputdir pgo u insecure"}},
    {"mvn",
     {},
     true,
     {},
     {.shorts = "DfsgtPl",
      .longs = "--define --file --settings --global-settings "
               "--toolchains --activate-profiles --log-file --global-toolchains"}},
    {"gradle",
     {},
     true,
     {},
     {.shorts = "IbcpDPg",
      .longs = "--init-script --build-file --settings-file "
               "--project-dir --system-prop --project-prop --include-build --gradle-user-home "
               "--project-cache-dir "
               "--write-locks --write-verification-metadata"}},
    {"bazel",
     {},
     true,
     "run mobile-install",
     {.longs = "--run_under --workspace_status_command --action_env "
               "--package_path --override_repository --override_module --script_path --test_env "
               "--host_action_env "
               "--bazelrc --output_base --output_user_root --shell_executable --strategy "
               "--crosstool_top --profile"}},
    {"sbt", ProgramKind::interpreter, false, {}, {}},
    {"rake", ProgramKind::interpreter, false, {}, {}},
    {"ant",
     {},
     false,
     {},
     {.flags = "f file buildfile find s D lib logfile l logger listener propertyfile main"}},
    {"scons", ProgramKind::interpreter, false, {}, {}},
    {"tox",
     {},
     false,
     {},
     {.shorts = "cx",
      .longs = "--conf --workdir --root --override --force-dep "
               "--installpkg --result-json --toxworkdir"}},
    {"nox",
     {},
     false,
     {},
     {.shorts = "f", .longs = "--noxfile --envdir --force-python --extra-pythons --report"}},
    {"pytest",
     {},
     false,
     {},
     {.shorts = "pco",
      .valued_shorts = "kmnWr",
      .longs = "--rootdir --confcutdir --override-ini --basetemp --junit-xml --junitxml --pdbcls "
               "--pdb --trace "
               "--import-mode --pastebin --log-file --debug --config-file --inifile --pyargs "
               "--cov-config "
               "--cov-report --html --pythonwarnings --dist --tx --rsyncdir"}},
    {"jest",
     {},
     false,
     {},
     {.shorts = "c",
      .valued_shorts = "twioe",
      .longs = "--config --runner --reporters "
               "--setupFiles --setupFilesAfterEnv --testRunner --globalSetup --globalTeardown "
               "--outputFile "
               "--coverageDirectory --coverageReporters --rootDir --roots --testEnvironment "
               "--transform --resolver "
               "--projects --preset --haste --snapshotSerializers --filter --watchPlugins "
               "--cacheDirectory"}},
    {"vitest",
     {},
     false,
     {},
     {.shorts = "cr",
      .valued_shorts = "tw",
      .longs = "--config --root --dir --reporter "
               "--outputFile --environment --globalSetup --execArgv --pool --ui --api --coverage "
               "--browser"}},
    {"mocha",
     {},
     false,
     {},
     {.shorts = "rRun",
      .valued_shorts = "fgtsj",
      .longs = "--require --file --config --package "
               "--reporter --reporter-option --reporter-options --ui --loader --import "
               "--node-option --v8-option "
               "--spec --extension"}},
    {"eslint",
     {},
     false,
     {},
     {.shorts = "cof",
      .longs = "--config --rulesdir --plugin --resolve-plugins-relative-to "
               "--parser --parser-options --output-file --fix --fix-type --format --cache-location "
               "--cache-file --init "
               "--flag --env-info --inspect-config --mcp"}},
    {"prettier",
     {},
     false,
     {},
     {.shorts = "w",
      .longs = "--write --plugin --plugin-search-dir --config "
               "--config-path --find-config-path --cache-location --parser"}},
    {"ruff",
     {},
     true,
     "server",
     {.shorts = "o",
      .valued_shorts = "w",
      .longs = "--fix --fix-only "
               "--unsafe-fixes --config --output-file --add-noqa --cache-dir --extension"}},
    {"mypy",
     {},
     false,
     {},
     {.shorts = "c",
      .longs =
          "--config-file --command --custom-typeshed-dir "
          "--install-types --junit-xml --any-exprs-report --cobertura-xml-report --html-report "
          "--linecount-report --linecoverage-report --lineprecision-report --txt-report "
          "--xml-report "
          "--xslt-html-report --xslt-txt-report --cache-dir --python-executable --shadow-file"}},
    {"flake8",
     {},
     false,
     {},
     {.longs = "--config --append-config --output-file --enable-extensions --tee "
               "--format"}},
    {"shellcheck", {}, false, {}, {.longs = "--rcfile"}},
    {"shfmt", {}, false, {}, {.shorts = "w", .valued_shorts = "i", .longs = "--write"}},
});

}  // namespace

std::span<const Program> build_programs() { return build_table; }

}  // namespace holdpoint::policy::shell
