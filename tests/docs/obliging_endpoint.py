"""A model for the documentation's examples: what the demo's recordings say, else something of the right form."""

import json
from importlib.resources import files
from typing import Any

from generate.loopback_endpoint import chat_completion
from triplebeam.demo import Recording, read_recordings

Schema = dict[str, Any]


def answer(request: dict[str, Any]) -> tuple[int, dict[str, Any] | str]:
    """A chat completion."""
    schema: Schema = request.get("response_format", {}).get("json_schema", {}).get("schema", {})
    prompt = request["messages"][-1]["content"]
    recorded = next((each.reply for each in _recordings() if _fits(each, prompt, schema)), None)
    return 200, chat_completion(recorded or json.dumps(_of_form(schema, schema)))


def _recordings() -> list[Recording]:
    return read_recordings(files("triplebeam.demo").joinpath("completions.json").read_text("utf-8"))


def _fits(recording: Recording, prompt: str, schema: Schema) -> bool:
    """A request does not name its template, but no two of the demo's have the same fields; others are optional."""
    has_fields = json.loads(recording.reply).keys() <= schema.get("properties", {}).keys()
    return has_fields and all(text in prompt for text in recording.shows)


def _of_form(schema: Schema, whole: Schema) -> Any:
    """The plainest value that a schema allows."""
    if "$ref" in schema:
        return _of_form(whole["$defs"][schema["$ref"].rsplit("/", 1)[1]], whole)
    if "anyOf" in schema:
        return _of_form(schema["anyOf"][0], whole)
    match schema.get("type"):
        case "object":
            return {name: _of_form(its, whole) for name, its in schema.get("properties", {}).items()}
        case "array":
            return []
        case "boolean":
            return False
        case "integer" | "number":
            return 0
        case _:
            return "nothing"
