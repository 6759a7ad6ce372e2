#!/usr/bin/env python3
"""Writes a C++ file with every block of code in a page, so that the compiler reads the manual too.

    docs_code.py PAGE.md OUT.cpp
"""
import pathlib
import re
import sys

PRELUDE = """// Made from {page}.
#include <iostream>
#include <string>

#include <holdpoint/agent.h>

using namespace holdpoint;

std::string process_refund(const std::string& order, double amount);
void fail(const Error& error);
void show_dialog(const std::string& text);
extern const std::string agent_key, request_id;
extern const Action action;
"""


def main():
    page, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    blocks = re.findall(r"^```cpp( coroutine)?\n(.*?)^```$", page.read_text(), re.S | re.M)
    if not blocks:
        sys.exit(f"{page} has no code")
    text = PRELUDE.format(page=page.name)
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
