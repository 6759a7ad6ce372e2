#!/usr/bin/env python3
"""Writes a C++ file with every block of code in some pages, so that the compiler reads the manual too.

    docs_code.py PAGE.md… OUT.cpp
"""
import pathlib
import re
import sys

PRELUDE = """// Made from {pages}.
#include <iostream>
#include <string>

#include <holdpoint/agent.h>
#include <holdpoint/git.h>

using namespace holdpoint;

std::string process_refund(const std::string& order, double amount);
void fail(const Error& error);
void show_dialog(const std::string& text);
extern const std::string agent_key, request_id;
extern const Action action;
"""


def main():
    pages, out = [pathlib.Path(name) for name in sys.argv[1:-1]], pathlib.Path(sys.argv[-1])
    blocks = []
    for page in pages:
        found = re.findall(r"^```cpp( coroutine)?\n(.*?)^```$", page.read_text(), re.S | re.M)
        if not found:
            sys.exit(f"{page} has no code")
        blocks += found
    text = PRELUDE.format(pages=", ".join(page.name for page in pages))
    for number, (kind, code) in enumerate(blocks):
        code = re.sub(r"^#include.*\n", "", code, flags=re.M)
        if kind:
            text += f"\nTask<int> block_{number}(Holdpoint holdpoint) {{\n{code}co_return 0;\n}}\n"
        else:
            text += f"\nvoid block_{number}(Holdpoint& holdpoint) {{\n(void)holdpoint;\n{code}}}\n"
    if not out.exists() or out.read_text() != text:
        out.write_text(text)


if __name__ == "__main__":
    main()
