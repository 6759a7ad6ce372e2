#!/usr/bin/env python3
"""Writes a C++ source that embeds the built web page: `embed_site.py DIST OUT.cpp`.

What to embed, and with which headers, stands in DIST/embed.json. The files themselves come in through the assembler's
`.incbin`, which costs the compiler nothing, whatever their size.
"""
import hashlib
import json
import pathlib
import sys

# The engine sends this one with every answer.
ENGINE_HEADERS = {"X-Content-Type-Options"}


def quoted(text):
    return json.dumps(text)


class Blobs:
    def __init__(self, dist):
        self.dist, self.names, self.asm, self.hash = dist, [], [], hashlib.sha256()

    def view(self, file):
        """The expression of a std::string_view on the file's bytes."""
        if file is None:
            return "{}"
        path = self.dist / file
        data = path.read_bytes()
        self.hash.update(data)
        name = f"holdpoint_site_{len(self.names)}"
        self.names.append(name)
        self.asm.append(f'{name}:\\n.incbin \\"{path}\\"\\n')
        return f"{{{name}, {len(data)}}}"


def render(dist):
    site = json.loads((dist / "embed.json").read_text())
    blobs = Blobs(dist)
    rows = []
    for file in site["files"]:
        forms = {name: form["file"] for name, form in file["encodings"].items()}
        rows.append(f'    {{{quoted(file["path"])}, {quoted(file["type"])}, {quoted(file["cache"])}, {quoted(file["etag"].strip(chr(34)))},\n'
                    f'     {blobs.view(file["file"])}, {blobs.view(forms.get("br"))}, {blobs.view(forms.get("gzip"))}}},')
    pages = [f"    {quoted(page)}," for page in site["pages"]]
    headers = [f"    {{{quoted(name)}, {quoted(value)}}}," for name, value in site["headers"].items() if name not in ENGINE_HEADERS]
    return "\n".join([
        "// Made by tools/embed_site.py from web/dist; not to be edited.",
        # Compilers' caches look at this text only, not at the files it names.
        f"// sha256 of the content: {blobs.hash.hexdigest()}",
        '#include "server/embedded_site.h"', "",
        'asm(".section .rodata\\n"', *[f'    "{line}"' for line in blobs.asm], '    ".previous\\n");',
        'extern "C" const char ' + ", ".join(f"{name}[]" for name in blobs.names) + ";", "",
        "namespace holdpoint::server {", "namespace {", "",
        "constexpr std::string_view pages[] = {", *pages, "};",
        "constexpr std::pair<std::string_view, std::string_view> headers[] = {", *headers, "};",
        "constexpr api::SiteFile files[] = {", *rows, "};", "",
        "}  // namespace", "",
        "const api::Site& embedded_site() {", "    static const api::Site site{pages, headers, files};", "    return site;", "}", "",
        "}  // namespace holdpoint::server", ""])


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_text(render(pathlib.Path(sys.argv[1]).resolve()))
