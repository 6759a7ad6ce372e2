#!/usr/bin/env python3
"""Who may include whom: a folder of src/ includes only folders to its left, and the pure ones stay pure.

    include_order_test.py [ROOT]      checks ROOT/src; the unit tests below check this script itself
"""
import pathlib
import re
import sys
import tempfile
import unittest

ORDER = "base core policy audit store service notify agent api server cli".split()

# These get time, randomness and data passed in; a clock or a file here would make decisions that no test can repeat.
PURE = {"core", "policy", "audit"}
IMPURE = re.compile(r"^(random|fstream|filesystem|thread|mutex|future|sqlite3\.h|sodium\.h|unistd\.h|sys/.*|boost/asio.*|boost/beast.*"
                    r"|curl/.*|ctime|time\.h)$")
CLOCK = re.compile(r"\b(system_clock|steady_clock|high_resolution_clock|utc_clock|clock_gettime|gettimeofday|std::time)\b")
IMPURE_OURS = {"base/clock.h", "base/log.h"}

# Concrete stores and channels are named by the wiring alone.
HIDDEN = re.compile(r"^(store/(sqlite|postgres)|notify/(webhook|queue|push|apns|email))/")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def strip_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)


def problems_of(path, text):
    """What one file (its path relative to src/) does that it may not."""
    folder = path.split("/")[0]
    is_test = re.search(r"_(test|fuzz|bench)\.cpp$", path) or "/testing/" in path
    if folder not in ORDER:
        return [f"{path}: `{folder}` is not in the order"]
    found = []
    for match in INCLUDE.finditer(text):
        bracket, name = match[1], match[2]
        if bracket == '"':
            target = name.split("/")[0]
            if is_test and target == "tests":
                continue
            if "/" not in name or target not in ORDER:
                found.append(f'{path}: "{name}" is not written from src/')
            elif ORDER.index(target) > ORDER.index(folder):
                found.append(f'{path}: {folder} may not include {target} ("{name}")')
            if HIDDEN.match(name) and not is_test:
                hidden = "/".join(name.split("/")[:2])
                if folder != "server" and not path.startswith(hidden + "/"):
                    found.append(f'{path}: "{name}" is named only by server/')
            if folder in PURE and name in IMPURE_OURS and not is_test:
                found.append(f'{path}: {folder} does no I/O and reads no clock ("{name}")')
        elif folder in PURE and not is_test and IMPURE.match(name):
            found.append(f"{path}: {folder} does no I/O and reads no clock (<{name}>)")
    if folder in PURE and not is_test and (clock := CLOCK.search(strip_comments(text))):
        found.append(f"{path}: {folder} reads no clock ({clock[0]})")
    return found


def check(root):
    source = pathlib.Path(root) / "src"
    found, count = [], 0
    for path in sorted(source.rglob("*")):
        if path.suffix in (".h", ".cpp", ".cc", ".hpp") and path.is_file():
            count += 1
            found += problems_of(path.relative_to(source).as_posix(), path.read_text(encoding="utf-8"))
    return found, count


class SelfTest(unittest.TestCase):
    """A check that finds nothing wrong in a bad example checks nothing."""

    BAD = {
        "core/a.cpp": '#include "service/submit.h"\n', "base/a.h": '#include "core/request.h"\n',
        "core/b.cpp": "#include <random>\n", "policy/c.cpp": "#include <fstream>\n", "audit/d.cpp": "#include <boost/asio.hpp>\n",
        "core/e.cpp": "#include <chrono>\nauto t = std::chrono::system_clock::now();\n", "core/f.cpp": '#include "base/clock.h"\n',
        "service/g.cpp": '#include "store/sqlite/store.h"\n', "api/h.cpp": '#include "notify/webhook/channel.h"\n',
        "core/i.cpp": '#include "request.h"\n', "policy/j.cpp": "#include <sqlite3.h>\n", "extra/k.cpp": "",
        "core/l.cpp": '  #  include   "store/store.h"\n', "store/m.h": '#include "service/wait.h"\n', "store/n.cpp": '#include "tests/faults/fault_vfs.h"\n',
    }
    GOOD = {
        "core/a.cpp": '#include "core/a.h"\n#include <chrono>\n#include <vector>\n#include "base/result.h"\n',
        "server/b.cpp": '#include "store/sqlite/store.h"\n', "store/sqlite/c.cpp": '#include "store/sqlite/commit.h"\n#include <sqlite3.h>\n',
        "service/submit_test.cpp": '#include "store/sqlite/store.h"\n', "cli/d.cpp": '#include "server/run.h"\n',
        "core/e.cpp": "// no system_clock here: time is passed in\n", "base/clock.cpp": "#include <ctime>\n",
        "store/sqlite/sqlite_test.cpp": '#include "tests/faults/fault_vfs.h"\n',
    }

    def test_every_bad_example_is_found(self):
        for path, text in self.BAD.items():
            with self.subTest(path=path):
                self.assertEqual(len(problems_of(path, text)), 1, problems_of(path, text))

    def test_no_good_example_is_blamed(self):
        for path, text in self.GOOD.items():
            with self.subTest(path=path):
                self.assertEqual(problems_of(path, text), [])

    def test_a_whole_tree_is_walked(self):
        with tempfile.TemporaryDirectory() as root:
            for path, text in (self.BAD | {"base/fine.h": "#pragma once\n"}).items():
                file = pathlib.Path(root) / "src" / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            found, count = check(root)
            self.assertEqual((len(found), count), (len(self.BAD), len(self.BAD) + 1))

    def test_this_repository_keeps_the_order(self):
        found, count = check(pathlib.Path(__file__).resolve().parents[1])
        self.assertEqual(found, [])
        self.assertGreater(count, 10)


if __name__ == "__main__":
    if len(sys.argv) == 2 and not sys.argv[1].startswith("-") and pathlib.Path(sys.argv[1]).is_dir():
        problems, files = check(sys.argv[1])
        print("\n".join(problems) or f"{files} files keep the order")
        sys.exit(1 if problems or not files else 0)
    unittest.main()
