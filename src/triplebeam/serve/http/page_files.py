"""The page: one HTML file and what it needs, with nothing fetched from elsewhere. It needs no key to be seen."""

from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

PAGE = Path(__file__).parent / "page"
_POLICY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"


def add_page(app: FastAPI, folder: Path = PAGE) -> None:
    """Show the page at ``/``, where it is part of the installation."""
    if not (folder / "index.html").is_file():
        return

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(folder / "index.html", headers={"Content-Security-Policy": _POLICY})

    app.mount("/assets", StaticFiles(directory=folder / "assets", check_dir=False))
