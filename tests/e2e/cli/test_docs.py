"""The manual and the completions name everything that the program has."""

import re
import shutil
import subprocess
import unittest

from world import ROOT, World


class Documentation(World):
    def options(self):
        script = self.command("completion", "bash").stdout
        return script, set(re.findall(r"--[a-z][a-z-]+", script)) - {"--help"}

    def test_the_manual_names_every_command_and_option(self):
        manual = (ROOT / "docs" / "man" / "holdpoint.1").read_text().replace("\\-", "-")
        script, options = self.options()
        self.assertGreater(len(options), 50)
        self.assertEqual([name for name in sorted(options) if name not in manual], [])
        for path in re.findall(r"'holdpoint ([a-z ]+)'\) path=", script):
            self.assertIn(path, manual)

    def test_the_manual_names_no_option_that_is_not_there(self):
        manual = (ROOT / "docs" / "man" / "holdpoint.1").read_text().replace("\\-", "-")
        _, options = self.options()
        named = set(re.findall(r"--[a-z][a-z-]+", manual)) - {"--help", "--env"}
        self.assertEqual(sorted(named - options), [])

    def test_the_scripts_are_valid_for_their_shells(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.command("completion", shell).stdout
            self.assertIn("holdpoint", script)
            if shutil.which(shell):
                check = subprocess.run([shell, "-n"], input=script, text=True, capture_output=True)
                self.assertEqual(check.returncode, 0, check.stderr)

    def test_bash_completes_commands_and_options(self):
        script = self.command("completion", "bash").stdout
        for words, wanted in ((["holdpoint", "app"], "approve"), (["holdpoint", "key", "cr"], "create"),
                              (["holdpoint", "key", "create", "--ro"], "--role"),
                              (["holdpoint", "policy", "expl"], "explain"),
                              (["holdpoint", "policy", "explain", "--pol"], "--policy"),
                              (["holdpoint", "policy", "check", str(ROOT / "READ")], str(ROOT / "README.md")),
                              (["holdpoint", "--json", "list", "--ri"], "--risk"),
                              (["holdpoint", "list", "--risk", "cr"], "critical"),
                              (["holdpoint", "list", "--risk", "''"], "low medium high critical"),
                              (["holdpoint", "key", "create", "--role", "ag"], "agent"),
                              (["holdpoint", "serve", "--on-timeout", "es"], "escalate"),
                              (["holdpoint", "key", "list", "--color", "n"], "never"),
                              (["holdpoint", "--color", "n"], "never")):
            line = script + f"\nCOMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _holdpoint; echo ${{COMPREPLY[@]}}"
            done = subprocess.run(["bash", "-c", line], text=True, capture_output=True)
            self.assertEqual(done.stdout.strip(), wanted, done.stderr)


if __name__ == "__main__":
    unittest.main()
