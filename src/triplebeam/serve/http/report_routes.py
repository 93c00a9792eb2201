"""Routes: the reports of `triplebeam research experiment` under a folder."""

import html
import re
from pathlib import Path
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field

from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.keys import SeenRunner, sees_everything
from triplebeam.serve.http.search_routes import PROBLEMS

_KINDS = {"report.html": "text/html", "results.json": "application/json"}
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_MAX_CHARACTERS_READ = 4096
#: A report has styles and plots, no scripts and nothing to fetch; this policy keeps anything else from running.
_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"

router = APIRouter(prefix="/api", tags=["reports"], dependencies=[Depends(sees_everything)], responses=PROBLEMS)


class Report(BaseModel):
    """A report to open."""

    id: str = Field(examples=["musique/report.html"])
    title: str
    url: str


class ReportsResponse(BaseModel):
    """The reports there are, by id."""

    reports: list[Report]


@router.get("/reports")
async def reports(request: Request, runner: SeenRunner) -> ReportsResponse:
    """List pages to look at and results for programs, from the folder that `--reports` names."""
    return ReportsResponse(reports=await runner.run(_list_reports, request.app.state.reports))


@router.get(
    "/reports/{report_id:path}",
    response_class=FileResponse,
    responses={200: {"content": {kind: {} for kind in _KINDS.values()}, "description": "The report itself."}},
)
async def report(request: Request, runner: SeenRunner, report_id: str) -> FileResponse:
    """Return a report's page, or its results."""
    files = await runner.run(_find_files, request.app.state.reports)
    if report_id not in files:  # what is not listed is not read, whatever its path
        raise HTTPProblem(
            404, "unknown_report", f"there is no report {report_id[:80]!r}: `GET /api/reports` lists them."
        )
    file = files[report_id]
    headers = {"Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff"}
    return FileResponse(file, media_type=_KINDS[file.name], headers=headers)


def _list_reports(folder: Path | None) -> list[Report]:
    files = _find_files(folder)
    return [Report(id=id_, title=_read_title(file), url=f"/api/reports/{quote(id_)}") for id_, file in files.items()]


def _find_files(folder: Path | None) -> dict[str, Path]:
    """Find reports by id, their path under the folder; a link that leads out of it is left out."""
    if folder is None:
        return {}
    root = folder.resolve()
    found = sorted(file for name in _KINDS for file in root.rglob(name))
    return {
        file.relative_to(root).as_posix(): file
        for file in found
        if file.is_file() and file.resolve().is_relative_to(root)
    }


def _read_title(file: Path) -> str:
    """Read the page's own title, else the folder's name."""
    if file.suffix != ".html":
        return f"{file.parent.name}: results"
    with file.open(encoding="utf-8", errors="replace") as page:
        found = _TITLE.search(page.read(_MAX_CHARACTERS_READ))
    return html.unescape(found[1].strip()) if found else file.parent.name
