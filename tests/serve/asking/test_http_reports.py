"""Reports from a folder, and nothing else from the disk."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from serve.asking.served_world import MakeApp


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "reports"
    for name in ("musique", "own questions"):
        (folder / name).mkdir(parents=True)
        (folder / name / "report.html").write_text(f"<title>On {name} &amp; more</title>", encoding="utf-8")
    (folder / "musique" / "results.json").write_text("{}", encoding="utf-8")
    (folder / "musique" / "secret.txt").write_text("no report", encoding="utf-8")
    (tmp_path / "report.html").write_text("outside", encoding="utf-8")
    (folder / "linked").mkdir()
    (folder / "linked" / "report.html").symlink_to(tmp_path / "report.html")
    return folder


def test_reports_are_listed_and_opened(make: MakeApp, folder: Path) -> None:
    client = TestClient(make(reports=folder))
    listed = client.get("/api/reports").json()["reports"]
    assert [(report["id"], report["title"]) for report in listed] == [
        ("musique/report.html", "On musique & more"),
        ("musique/results.json", "musique: results"),
        ("own questions/report.html", "On own questions & more"),
    ]
    opened = [client.get(report["url"]) for report in listed]
    assert [response.status_code for response in opened] == [200, 200, 200]
    assert opened[0].headers["content-type"].startswith("text/html")
    assert "sandbox" in opened[0].headers["content-security-policy"]
    assert opened[1].json() == {}


@pytest.mark.parametrize(
    "report_id", ["none", "musique/secret.txt", "..%2Freport.html", "linked/report.html", "musique"]
)
def test_what_is_not_listed_is_not_read(make: MakeApp, folder: Path, report_id: str) -> None:
    response = TestClient(make(reports=folder)).get(f"/api/reports/{report_id}")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "unknown_report")


def test_without_a_folder_there_are_none(client: TestClient) -> None:
    assert client.get("/api/reports").json() == {"reports": []}
    assert client.get("/api/reports/musique/report.html").status_code == 404
