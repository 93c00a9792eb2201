"""A pydantic type as the JSON schema that endpoints take: every field required, no other allowed."""

from pydantic import BaseModel

_NAMES_WITHIN = ("properties", "$defs")


def strict_schema(reply_type: type[BaseModel]) -> dict[str, object]:
    """The schema of a type in the strict form that OpenAI asks for; grammars of local servers gain by it too."""
    schema = _strict(reply_type.model_json_schema())
    assert isinstance(schema, dict)
    return schema


def _strict(node: object) -> object:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    strict: dict[str, object] = {}
    for key, value in node.items():
        if key in _NAMES_WITHIN:  # here the keys are a user's names, and may well be "title"
            strict[key] = {name: _strict(inner) for name, inner in value.items()}
        elif key not in ("title", "default"):
            strict[key] = _strict(value)
    if "properties" in node:
        strict |= {"required": list(node["properties"]), "additionalProperties": False}
    return strict
