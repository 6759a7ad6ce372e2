"""spec/openapi.yaml itself: complete, consistent, and the same on every machine (W1). Needs no server."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import cases
from harness import ROOT, SPEC

# Which errors an operation must document, by what it is.
ALWAYS = {"401", "429", "503", "400"}


def walk(node, path="#"):
    yield path, node
    if isinstance(node, dict):
        for name, child in node.items():
            yield from walk(child, f"{path}/{name}")
    elif isinstance(node, list):
        for i, child in enumerate(node):
            yield from walk(child, f"{path}/{i}")


def needs_credential(operation):
    return operation["security"] != [] and {} not in operation["security"]


class OpenApiTest(unittest.TestCase):
    def test_every_reference_resolves(self):
        count = 0
        for path, node in walk(SPEC.document):
            if isinstance(node, dict) and isinstance(node.get("$ref"), str):
                SPEC.validator.resolve(node["$ref"])
                count += 1
        self.assertGreater(count, 500)

    def test_every_component_is_used(self):
        used = {node["$ref"] for _, node in walk(SPEC.document) if isinstance(node, dict) and "$ref" in node}
        for part in ("schemas", "parameters", "responses", "examples"):
            for name in SPEC.document["components"][part]:
                if name in ("Event", "PushMessage"):
                    continue  # the data of a stream and of a push, which OpenAPI can only describe in words
                self.assertIn(f"#/components/{part}/{name}", used)

    def test_W1_every_operation_is_named_summarised_tagged_and_secured(self):
        tags = {tag["name"] for tag in SPEC.document["tags"]}
        self.assertEqual(len(SPEC.operations), sum(len(methods) for _, _, methods in SPEC.paths), "an operationId twice")
        for name, operation in SPEC.operations.items():
            with self.subTest(operation=name):
                self.assertRegex(name, r"^[a-z][A-Za-z]+$")
                self.assertTrue(operation["summary"])
                self.assertLessEqual(len(operation["summary"]), 80)
                self.assertEqual(len(operation["tags"]), 1)
                self.assertIn(operation["tags"][0], tags)
                self.assertIn("security", operation)
                for requirement in operation["security"]:
                    for scheme in requirement:
                        self.assertIn(scheme, SPEC.document["components"]["securitySchemes"])

    def test_W1_every_operation_documents_its_errors(self):
        for name, operation in SPEC.operations.items():
            with self.subTest(operation=name):
                documented = set(operation["responses"])
                wanted = set()
                if needs_credential(operation):
                    wanted |= ALWAYS
                if "requestBody" in operation:
                    wanted |= {"400", "413", "415"}
                if "{" in operation["path"] and operation["tags"] != ["pages"]:
                    wanted |= {"404"}
                is_change = operation["method"] != "GET"
                if is_change:
                    wanted |= {"403"}
                self.assertLessEqual(wanted, documented)
                self.assertTrue(any(status.startswith("2") for status in documented))

    def test_cookie_callers_need_the_csrf_header_exactly_on_changes(self):
        for name, operation in SPEC.operations.items():
            for requirement in operation["security"]:
                if "cookie" in requirement:
                    with self.subTest(operation=name):
                        self.assertEqual("csrf" in requirement, operation["method"] != "GET")

    def test_every_path_parameter_is_declared(self):
        for name, operation in SPEC.operations.items():
            declared = {p["name"] for p in operation["parameters"] if p["in"] == "path"}
            self.assertEqual(set(re.findall(r"\{(\w+)\}", operation["path"])), declared, name)
            for parameter in operation["parameters"]:
                self.assertIn("schema", parameter, name)

    def test_every_object_says_whether_it_may_have_further_members(self):
        open_on_purpose = ("/properties/arguments", "/properties/metadata", "/properties/modifiedArguments",
                           "/properties/toolInput", "/properties/context", "/schemas/Context",
                           # What browsers send grows with every version of WebAuthn.
                           "/schemas/NewCredential", "/schemas/Assertion", "/schemas/Similar/properties/arguments")
        for path, node in walk(SPEC.document["components"]["schemas"], "#/schemas"):
            if isinstance(node, dict) and node.get("type") in ("object", ["object", "null"]):
                if not any(part in path + "/" for part in open_on_purpose):
                    with self.subTest(schema=path):
                        self.assertIs(node.get("additionalProperties"), False)

    def test_W1_every_example_fits_its_schema(self):
        checked = 0
        for path, node in walk(SPEC.document["paths"]):
            if not (isinstance(node, dict) and "schema" in node and "examples" in node):
                continue
            for name, example in node["examples"].items():
                value = SPEC.validator.follow(example)["value"]
                with self.subTest(at=path, example=name):
                    self.assertEqual(SPEC.validator.errors(value, node["schema"]), [])
                    checked += 1
        for name, response in SPEC.document["components"]["responses"].items():
            media = response.get("content", {}).get("application/json", {})
            if "example" in media:
                self.assertEqual(SPEC.validator.errors(media["example"], media["schema"]), [], name)
        self.assertGreaterEqual(checked, 20)

    def test_the_schemas_refuse_what_they_should(self):
        """A schema that accepts everything would make every other test of this folder worthless."""
        good = SPEC.document["components"]["examples"]["RefundModified"]["value"]
        resource = {"$ref": "#/components/schemas/Request"}
        self.assertEqual(SPEC.validator.errors(good, resource), [])
        for change in ({"extra": 1}, {"state": "done"}, {"outcome": None}, {"outcome": "rejected"}, {"kind": "plan"},
                       {"plan": {"title": "x"}}, {"digest": "sha256:0"}, {"created_at": "2026-11-15 21:03"},
                       {"release": {"arguments": {}}}, {"decision": {"kind": "approve"}}, {"votes": None},
                       {"state": "pending"}):
            with self.subTest(change=change):
                self.assertNotEqual(SPEC.validator.errors({**good, **change}, resource), [])
        for name in good:
            with self.subTest(without=name):
                self.assertNotEqual(SPEC.validator.errors({k: v for k, v in good.items() if k != name}, resource), [])

    def test_the_json_is_the_same_every_time(self):
        texts = []
        for seed in ("0", "1"):
            with tempfile.TemporaryDirectory() as folder:
                out = pathlib.Path(folder) / "openapi.json"
                subprocess.run([sys.executable, ROOT / "tools" / "openapi_json.py", ROOT / "spec" / "openapi.yaml", out],
                               check=True, env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin"})
                texts.append(out.read_bytes())
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(json.loads(texts[0]), SPEC.document)

    def test_W1_every_case_names_documented_operations_and_requirements(self):
        for file, case in cases.load_all():
            with self.subTest(file=file, case=case["name"]):
                self.assertTrue(case["proves"])
                for requirement in case["proves"]:
                    self.assertRegex(requirement, r"^[GPQDTHAFSWLXU]\d{1,2}$")
                for step in case["steps"]:
                    status = str(step["expect"]["status"])
                    method, path = step["do"].split(" ", 1)
                    operation = SPEC.find(method, path)
                    if operation:
                        self.assertIn(status, set(operation["responses"]) | set(SPEC.engine))
                    else:
                        self.assertIn(status, ("404", "405"))


if __name__ == "__main__":
    unittest.main()
