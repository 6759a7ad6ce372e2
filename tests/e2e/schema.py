"""Checks JSON values against the JSON Schema 2020-12 subset that spec/openapi.yaml uses.

A keyword that this file does not know is an error, not a pass: a validator that skips what it does not understand
would let the document promise more than the tests check.
"""
import datetime
import json
import re

ANNOTATIONS = {"description", "title", "default", "examples", "example", "$comment", "deprecated", "readOnly", "$defs"}


class SchemaError(Exception):
    """The schema itself is wrong."""


def is_date_time(text):
    match = re.fullmatch(r"(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(\.\d+)?(Z|[+-]\d{2}:\d{2})", text)
    if not match:
        return False
    try:
        datetime.datetime.fromisoformat(f"{match[1]}T{match[2]}")
    except ValueError:
        return False
    return True


FORMATS = {"date-time": is_date_time}


def type_of(value):
    """The JSON type; a float without fraction counts as integer too, see `has_type`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    if isinstance(value, dict):
        return "object"
    raise TypeError(type(value))


def has_type(value, wanted):
    actual = type_of(value)
    if wanted == "integer":
        return actual == "number" and float(value).is_integer()
    return actual == wanted


def equal(a, b):
    """JSON equality: true is not 1, 1.0 is 1."""
    if type_of(a) != type_of(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    return a == b


class Validator:
    """Validates against schemas of one document, whose `$ref`s point into it."""

    def __init__(self, document):
        self.document = document
        self.resolved = {}
        self.patterns = {}

    def resolve(self, ref):
        if ref in self.resolved:
            return self.resolved[ref]
        if not ref.startswith("#/"):
            raise SchemaError(f"only local references: {ref}")
        node = self.document
        for part in ref[2:].split("/"):
            part = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(node, dict) or part not in node:
                raise SchemaError(f"{ref} leads nowhere")
            node = node[part]
        self.resolved[ref] = node
        return node

    def follow(self, node):
        """The node behind a chain of references, for parameters and responses."""
        for _ in range(16):
            if not (isinstance(node, dict) and "$ref" in node):
                return node
            node = self.resolve(node["$ref"])
        raise SchemaError("references in a circle")

    def errors(self, value, schema, path="$"):
        """A list of sentences; empty when the value is valid."""
        if schema is True:
            return []
        if schema is False:
            return [f"{path}: nothing is allowed here"]
        found = []
        for keyword, argument in schema.items():
            if keyword in ANNOTATIONS or keyword.startswith("x-"):
                continue
            check = CHECKS.get(keyword)
            if check is None:
                raise SchemaError(f"unknown keyword `{keyword}`")
            found += check(self, value, argument, schema, path)
        return found

    def is_valid(self, value, schema):
        return not self.errors(value, schema)

    def matches(self, pattern, text):
        if pattern not in self.patterns:
            self.patterns[pattern] = re.compile(pattern)
        return self.patterns[pattern].search(text) is not None


def show(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."


def check_ref(v, value, ref, schema, path):
    return v.errors(value, v.resolve(ref), path)


def check_type(v, value, wanted, schema, path):
    names = wanted if isinstance(wanted, list) else [wanted]
    for name in names:
        if name not in ("null", "boolean", "number", "integer", "string", "array", "object"):
            raise SchemaError(f"unknown type `{name}`")
    if any(has_type(value, name) for name in names):
        return []
    return [f"{path}: {show(value)} is not of type {'|'.join(names)}"]


def check_enum(v, value, options, schema, path):
    return [] if any(equal(value, option) for option in options) else [f"{path}: {show(value)} is not one of {options}"]


def check_const(v, value, wanted, schema, path):
    return [] if equal(value, wanted) else [f"{path}: {show(value)} is not {show(wanted)}"]


def check_properties(v, value, properties, schema, path):
    if not isinstance(value, dict):
        return []
    found = []
    for name, sub in properties.items():
        if name in value:
            found += v.errors(value[name], sub, f"{path}.{name}")
    return found


def check_required(v, value, names, schema, path):
    if not isinstance(value, dict):
        return []
    return [f"{path}: `{name}` is missing" for name in names if name not in value]


def check_additional(v, value, sub, schema, path):
    if not isinstance(value, dict):
        return []
    found = []
    for name in value:
        if name not in schema.get("properties", {}):
            if sub is False:
                found.append(f"{path}: `{name}` is not documented")
            else:
                found += v.errors(value[name], sub, f"{path}.{name}")
    return found


def check_items(v, value, sub, schema, path):
    if not isinstance(value, list):
        return []
    found = []
    for i, item in enumerate(value):
        found += v.errors(item, sub, f"{path}[{i}]")
    return found


def check_unique(v, value, wanted, schema, path):
    if not wanted or not isinstance(value, list):
        return []
    for i, item in enumerate(value):
        if any(equal(item, other) for other in value[:i]):
            return [f"{path}: {show(item)} twice"]
    return []


def bound(of_type, measure, is_ok, words):
    def check(v, value, limit, schema, path):
        if type_of(value) != of_type or is_ok(measure(value), limit):
            return []
        return [f"{path}: {show(value)} {words} {limit}"]
    return check


def check_pattern(v, value, pattern, schema, path):
    if not isinstance(value, str) or v.matches(pattern, value):
        return []
    return [f"{path}: {show(value)} does not match {pattern}"]


def check_format(v, value, name, schema, path):
    if name not in FORMATS:
        raise SchemaError(f"unknown format `{name}`")
    if not isinstance(value, str) or FORMATS[name](value):
        return []
    return [f"{path}: {show(value)} is no {name}"]


def check_all_of(v, value, subs, schema, path):
    return [error for sub in subs for error in v.errors(value, sub, path)]


def check_any_of(v, value, subs, schema, path):
    tried = [v.errors(value, sub, path) for sub in subs]
    if any(not errors for errors in tried):
        return []
    # The branch that came closest explains best.
    return min(tried, key=len)


def check_one_of(v, value, subs, schema, path):
    tried = [v.errors(value, sub, path) for sub in subs]
    fitting = sum(1 for errors in tried if not errors)
    if fitting == 1:
        return []
    if fitting == 0:
        return min(tried, key=len)
    return [f"{path}: fits {fitting} of the alternatives instead of one"]


def check_not(v, value, sub, schema, path):
    return [f"{path}: {show(value)} is what it must not be"] if v.is_valid(value, sub) else []


def check_if(v, value, condition, schema, path):
    branch = "then" if v.is_valid(value, condition) else "else"
    return v.errors(value, schema[branch], path) if branch in schema else []


def no_check(v, value, argument, schema, path):
    return []


CHECKS = {
    "$ref": check_ref, "type": check_type, "enum": check_enum, "const": check_const, "properties": check_properties,
    "required": check_required, "additionalProperties": check_additional, "items": check_items,
    "uniqueItems": check_unique, "pattern": check_pattern, "format": check_format, "allOf": check_all_of,
    "anyOf": check_any_of, "oneOf": check_one_of, "not": check_not, "if": check_if, "then": no_check, "else": no_check,
    "minLength": bound("string", len, lambda n, limit: n >= limit, "is shorter than"),
    "maxLength": bound("string", len, lambda n, limit: n <= limit, "is longer than"),
    "minItems": bound("array", len, lambda n, limit: n >= limit, "has fewer items than"),
    "maxItems": bound("array", len, lambda n, limit: n <= limit, "has more items than"),
    "minProperties": bound("object", len, lambda n, limit: n >= limit, "has fewer members than"),
    "maxProperties": bound("object", len, lambda n, limit: n <= limit, "has more members than"),
    "minimum": bound("number", float, lambda n, limit: n >= limit, "is below"),
    "maximum": bound("number", float, lambda n, limit: n <= limit, "is above"),
}
