"""The HTTP reference page, written from the server's own OpenAPI description whenever the site is built."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from triplebeam.serve.http.app import make_app
from triplebeam.serve.http.keys import Keys
from triplebeam.serve.library import Library
from triplebeam.settings import read_settings

PLACE = "<!-- generated: routes -->"
Schema: TypeAlias = Mapping[str, Any]


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put the routes where the page wants them."""
    return markdown.replace(PLACE, routes(_openapi())) if PLACE in markdown else markdown


def _openapi() -> Schema:
    with TemporaryDirectory() as folder:
        app = make_app(Library([Path(folder)], read_settings()), keys=Keys(Path(folder) / "keys.json"))
        description: Schema = app.openapi()
    return description


def routes(openapi: Schema) -> str:
    """Every route as Markdown: those of one tag together, in the order of the schema."""
    by_tag: dict[str, list[str]] = {}
    for path, operations in openapi["paths"].items():
        for verb, operation in operations.items():
            text = "\n\n".join(_route(f"{verb.upper()} {path}", operation, openapi))
            by_tag.setdefault(operation["tags"][0], []).append(text)
    return "\n\n".join(f"## {_TITLES.get(tag, tag.title())}\n\n" + "\n\n".join(told) for tag, told in by_tag.items())


_TITLES = {"openai": "OpenAI's interface"}


def _route(name: str, operation: Schema, openapi: Schema) -> Iterator[str]:
    yield f"### `{name}`"
    yield operation.get("description", "").replace("``", "`")
    rows = [
        _row(each["name"], each["schema"], each["in"], required=each.get("required", False))
        for each in operation.get("parameters", ())
    ]
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = _resolved(content["schema"], openapi)
        needed = schema.get("required", ())
        rows += [
            _row(field, _resolved(its, openapi), "form" if "form" in media else "body", required=field in needed)
            for field, its in schema.get("properties", {}).items()
        ]
    if rows:
        yield "\n".join(["| field | in | type | |", "| --- | --- | --- | --- |", *rows])
    good = next((status for status in operation["responses"] if status.startswith("2")), "200")
    yield f"Replies `{good}`{_reply(operation['responses'][good], openapi)}."


def _row(name: str, schema: Schema, where: str, *, required: bool) -> str:
    words = [schema.get("description", "").replace("\n", " ")]
    if "default" in schema and schema["default"] is not None:
        words.append(f"Default: `{schema['default']}`.")
    mark = "" if required else " (optional)"
    return f"| `{name}`{mark} | {where} | {_type(schema)} | {' '.join(filter(None, words))} |"


def _type(schema: Schema) -> str:
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(each) for each in schema["anyOf"] if each.get("type") != "null"))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if "enum" in schema:
        return " or ".join(f"`{each}`" for each in schema["enum"])
    return schema["$ref"].rsplit("/", 1)[1] if "$ref" in schema else str(schema.get("type", "any"))


def _reply(response: Schema, openapi: Schema) -> str:
    """Return the fields of the reply, where it is an object."""
    told = []
    for media, content in response.get("content", {}).items():
        schema = _resolved(content.get("schema", {}), openapi)
        fields = ", ".join(f"`{field}`" for field in schema.get("properties", {}))
        if media == "text/event-stream":
            told.append("events")
        elif fields:
            told.append(f"`{schema['title']}`: {fields}" if "title" in schema else fields)
        elif schema:
            told.append(_type(schema))
    return " with " + "; or ".join(told) if told else ""


def _resolved(schema: Schema, openapi: Schema) -> Schema:
    if "$ref" not in schema:
        return schema
    found: Schema = openapi["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return found
