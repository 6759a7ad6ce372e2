#!/usr/bin/env python3
"""Turns spec/openapi.yaml into the JSON that the server embeds and serves at /openapi.json.

    openapi_json.py spec/openapi.yaml build/openapi.json

Beside it goes OUT.h, which names the file for the assembler and changes with it: compilers' caches look at included
files only, not at those that the assembler reads.

The same input gives the same bytes on every machine: members keep the order of the YAML file, there is no time stamp,
and nothing depends on the environment. Duplicate keys, which YAML readers swallow, are an error.
"""
import hashlib
import json
import pathlib
import sys

import yaml


class StrictLoader(yaml.SafeLoader):
    """A SafeLoader that refuses a mapping with the same key twice, and keeps dates as text."""


def construct_mapping(loader, node):
    merged = []
    seen = set()
    for key_node, value_node in node.value:
        if key_node.tag == "tag:yaml.org,2002:merge":
            continue
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            raise yaml.constructor.ConstructorError(None, None, f"key {key!r} is not text", key_node.start_mark)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"key {key!r} twice", key_node.start_mark)
        seen.add(key)
        merged.append((key_node, value_node))
    loader.flatten_mapping(node)
    return {loader.construct_object(key, deep=True): loader.construct_object(value, deep=True)
            for key, value in node.value}


StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, construct_mapping)
StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def load(path):
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader=StrictLoader)


def to_json(document):
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def main(arguments):
    if len(arguments) != 2:
        print("usage: openapi_json.py OPENAPI.yaml OUT.json", file=sys.stderr)
        return 2
    text = to_json(load(arguments[0]))
    with open(arguments[1], "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    path = pathlib.Path(arguments[1]).resolve()
    path.with_name(path.name + ".h").write_text(
        f"// sha256 of the content: {hashlib.sha256(text.encode()).hexdigest()}\n#define HOLDPOINT_OPENAPI_JSON {json.dumps(str(path))}\n",
        encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
