"""Routes: the page and its files, which need no key. Nothing is fetched from other sites, and no script is inline."""

import hashlib
from importlib.resources import files

from fastapi import APIRouter, HTTPException, Request, Response

_FOLDER = files(__package__).joinpath("page")
_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    # File names are the same in every version, so a browser asks each time, and mostly gets 304.
    "Cache-Control": "no-cache",
}

router = APIRouter(include_in_schema=False)


@router.api_route("/", methods=["GET", "HEAD"])
def page(request: Request) -> Response:
    """The page."""
    return _file(request, "index.html")


@router.api_route("/assets/{name}", methods=["GET", "HEAD"])
def asset(request: Request, name: str) -> Response:
    """A script, style sheet or picture of the page."""
    return _file(request, name)


def _file(request: Request, name: str) -> Response:
    """A file of the page's folder, found among its listed names, so that no other path can be read."""
    found = next((file for file in _FOLDER.iterdir() if file.name == name and file.is_file()), None)
    kind = _TYPES.get(name.rpartition(".")[2])
    if found is None or kind is None:
        raise HTTPException(404)
    content = found.read_bytes()
    headers = {**_HEADERS, "ETag": f'"{hashlib.sha256(content).hexdigest()[:32]}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)
