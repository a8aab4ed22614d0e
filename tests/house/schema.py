"""Just enough of JSON Schema to hold a result against its published schema."""

from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,), "null": (type(None),),
    "integer": (int,), "number": (int, float),
}  # fmt: skip
_KNOWN = {
    "$schema", "$defs", "$ref", "title", "description", "default", "type", "properties", "required", "enum", "const",
    "additionalProperties", "items", "anyOf", "minimum", "maximum",
}  # fmt: skip


def violations(value: Any, schema: dict[str, Any], root: dict[str, Any], path: str = "$") -> list[str]:
    """Return what in `value` does not fit; a keyword that is not known here is a violation too."""
    if "$ref" in schema:
        return violations(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, path)
    if "anyOf" in schema:
        tried = [violations(value, option, root, path) for option in schema["anyOf"]]
        return [] if any(not found for found in tried) else [f"{path}: fits no option"]
    found = [f"{path}: unknown keyword {word}" for word in schema.keys() - _KNOWN]
    kind = schema.get("type")
    if kind and (not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return [*found, f"{path}: not of type {kind}"]
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{path}: {value!r} is none of {schema['enum']}")
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        found += [v for i, one in enumerate(value) for v in violations(one, schema["items"], root, f"{path}[{i}]")]
    if isinstance(value, dict):
        found += _members(value, schema, root, path)
    return found


def _members(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], path: str) -> list[str]:
    properties, extra = schema.get("properties", {}), schema.get("additionalProperties", True)
    found = [f"{path}: {name} is missing" for name in schema.get("required", []) if name not in value]
    for name, member in value.items():
        here = f"{path}.{name}"
        if name in properties:
            found += violations(member, properties[name], root, here)
        elif extra is False:
            found.append(f"{here}: unknown")
        elif isinstance(extra, dict):
            found += violations(member, extra, root, here)
    return found
