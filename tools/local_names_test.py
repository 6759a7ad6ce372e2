#!/usr/bin/python3
"""Names of their own: what a source keeps to itself is not called like what another source of its program keeps to
itself, nor like what a header of its folder offers.

Several sources of a folder are compiled as one (HOLDPOINT_UNITY). Two functions of one name would then overload each
other: at best that does not compile, at worst a call silently means the other one.

    tools/local_names_test.py [ROOT]
"""
import collections
import pathlib
import re
import sys

# At the start of a line, as clang-format leaves it. An alias may be repeated: two that differ do not compile together.
DEFINED = re.compile(r"^(?!using |friend |return |static_assert|extern |.*\boperator\b)[\w:][\w:<>,&*\s\[\].()]*?[\s&*](\w+)\(|"
                     r"^(?:(?:inline|constexpr|const|static|thread_local) )*(?:struct|class|enum class|union) (\w+)[ ;]|"
                     r"^(?:inline |static |thread_local )*(?:constexpr|const|thread_local)\b[^(=]*?[\s&*](\w+)(?:\[\w*\])?\s*(?:=|\{)")
MACROS = {"TEST", "TEST_F", "TEST_P", "TYPED_TEST", "INSTANTIATE_TEST_SUITE_P", "MATCHER", "MATCHER_P"}


def names_in(text, is_header):
    """(namespace, name) of everything in the unnamed namespaces of a source, or in a header."""
    namespace, is_local = "", is_header
    for line in text.splitlines():
        if opened := re.match(r"namespace ([\w:]+) \{", line):
            namespace = opened[1]
        elif line.startswith("}  // namespace holdpoint"):
            is_local, namespace = False, ""
        elif line == "namespace {":
            is_local = True
        elif line == "}  // namespace":
            is_local = False
        elif is_local and (found := DEFINED.match(line)):
            name = found[1] or found[2] or found[3]
            if name not in MACROS:
                yield namespace, name


def program_of(path):
    """Which sources are compiled together: those of a folder of src, and its tests."""
    return path.parts[:2], path.name.endswith("_test.cpp") or path.name.startswith("test_")


def clashes(sources):
    owners = collections.defaultdict(set)
    for path, text in sources:
        for namespace, name in names_in(text, path.suffix == ".h"):
            owners[program_of(path), namespace, name].add(str(path))
    return [(namespace, name, sorted(paths)) for (_, namespace, name), paths in owners.items()
            if len([path for path in paths if path.endswith(".cpp")]) + any(path.endswith(".h") for path in paths) > 1]


def self_test():
    one = "namespace a {\nnamespace {\nstd::string text_of(int x) {\n}\nconstexpr int size_max = 4;\nstruct Word {\n}  // namespace\n"
    two = one.replace("text_of(int x)", "text_of(std::string_view x)")
    found = {name for _, name, _ in clashes([(pathlib.Path("src/x/a.cpp"), one), (pathlib.Path("src/x/b.cpp"), two)])}
    assert found == {"text_of", "size_max", "Word"}, found
    header = "namespace a {\nstd::string text_of(double x);\n}  // namespace a\n"
    assert len(clashes([(pathlib.Path("src/x/a.cpp"), one), (pathlib.Path("src/x/c.h"), header)])) == 1
    assert not clashes([(pathlib.Path("src/x/a.cpp"), one), (pathlib.Path("src/y/b.cpp"), two)])
    assert not clashes([(pathlib.Path("src/x/a.cpp"), one), (pathlib.Path("src/x/a_test.cpp"), two)])


def main():
    self_test()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    paths = sorted(path for folder in ("src", "tests/agent") for path in (root / folder).rglob("*.*")
                   if path.suffix in (".cpp", ".h"))
    found = clashes((path.relative_to(root), path.read_text()) for path in paths)
    for namespace, name, where in sorted(found):
        print(f"{namespace}::{name} stands in {' and in '.join(where)}: give it one home, or two names", file=sys.stderr)
    print(f"{len(paths)} files, {len(found)} local names that stand twice")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
