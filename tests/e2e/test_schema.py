"""The validator itself: every keyword accepts what it should and refuses what it should."""
import unittest

from schema import SchemaError, Validator

DOCUMENT = {"components": {"schemas": {
    "Name": {"type": "string", "minLength": 1},
    "Tree": {"type": "object", "additionalProperties": False,
             "properties": {"left": {"$ref": "#/components/schemas/Tree"}}},
}}}

# schema, values that fit, values that do not
TABLE = [
    ({"type": "string"}, ["", "a"], [1, None, [], {}, True]),
    ({"type": "integer"}, [0, -3, 2.0], [1.5, "1", True, None]),
    ({"type": "number"}, [0, 1.5], [True, "1"]),
    ({"type": "boolean"}, [True, False], [0, 1, "true"]),
    ({"type": ["string", "null"]}, ["", None], [0, False]),
    ({"enum": ["a", None, 1]}, ["a", None, 1, 1.0], ["b", True, 0]),
    ({"const": {"a": [1]}}, [{"a": [1]}], [{"a": [True]}, {"a": [1], "b": 0}]),
    ({"const": False}, [False], [0, None]),
    ({"required": ["a"]}, [{"a": None}, "not an object"], [{}, {"b": 1}]),
    ({"properties": {"a": {"type": "string"}}}, [{}, {"a": "x"}, {"b": 1}], [{"a": 1}]),
    ({"properties": {"a": {}}, "additionalProperties": False}, [{}, {"a": 1}], [{"b": 1}]),
    ({"additionalProperties": {"type": "integer"}}, [{}, {"b": 1}], [{"b": "1"}]),
    ({"items": {"type": "integer"}}, [[], [1, 2]], [[1, "2"]]),
    ({"minItems": 1, "maxItems": 2}, [[1], [1, 2]], [[], [1, 2, 3]]),
    ({"uniqueItems": True}, [[1, 2], [1, True]], [[1, 1.0], [{"a": 1}, {"a": 1}]]),
    ({"minLength": 2, "maxLength": 3}, ["ab", "äöü", 5], ["a", "abcd"]),
    ({"minimum": 1, "maximum": 3}, [1, 3, "0"], [0, 3.1]),
    ({"minProperties": 1, "maxProperties": 1}, [{"a": 1}], [{}, {"a": 1, "b": 2}]),
    ({"pattern": "^a+$"}, ["a", "aaa", 7], ["", "b", "ab"]),
    ({"format": "date-time"}, ["2026-11-15T21:03:46.123Z", 3], ["2026-13-15T21:03:46Z", "2026-11-15", "now"]),
    ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, [1, 2], [0, 3]),
    ({"anyOf": [{"type": "string"}, {"minimum": 5}]}, ["a", 5], [4]),
    ({"oneOf": [{"minimum": 5}, {"maximum": 7}]}, [8, 4], [6]),
    ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, [{"a": 1}, {"b": 1}], [{}, {"a": 1, "b": 1}]),
    ({"not": {"const": 200}}, [409], [200]),
    ({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}},
     [{"a": 1, "b": 1}, {"c": 1}], [{"a": 1}, {"d": 1}]),
    ({"$ref": "#/components/schemas/Name"}, ["a"], ["", 1]),
    ({"$ref": "#/components/schemas/Tree"}, [{}, {"left": {"left": {}}}], [{"left": {"right": {}}}, {"left": 1}]),
    (True, [1, None], []),
    (False, [], [1, None]),
]


class SchemaTest(unittest.TestCase):
    def test_every_keyword_accepts_and_refuses(self):
        validator = Validator(DOCUMENT)
        for schema, fitting, failing in TABLE:
            for value in fitting:
                with self.subTest(schema=schema, fits=value):
                    self.assertEqual(validator.errors(value, schema), [])
            for value in failing:
                with self.subTest(schema=schema, fails=value):
                    self.assertNotEqual(validator.errors(value, schema), [])

    def test_an_unknown_keyword_is_an_error_and_not_a_pass(self):
        for schema in ({"dependentRequired": {}}, {"type": "strnig"}, {"format": "e-mail"},
                       {"$ref": "#/components/schemas/None"}, {"$ref": "other.yaml#/A"}):
            with self.subTest(schema=schema), self.assertRaises(SchemaError):
                Validator(DOCUMENT).errors("x", schema)

    def test_an_error_names_the_place(self):
        errors = Validator(DOCUMENT).errors({"a": [{"b": 1}]}, {
            "properties": {"a": {"items": {"properties": {"b": {"type": "string"}}}}}})
        self.assertEqual(len(errors), 1)
        self.assertTrue(errors[0].startswith("$.a[0].b:"), errors)


if __name__ == "__main__":
    unittest.main()
