"""How the page's files are served; no browser needed."""

import re
from importlib.resources import files

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from serve.http.small_server import error_of
from triplebeam.serve.http.errors import add_handlers
from triplebeam.serve.http.server_routes import page_router

PAGE = files("triplebeam.serve.http").joinpath("page")


@pytest.fixture
def client() -> TestClient:
    app = FastAPI()
    add_handlers(app)
    app.include_router(page_router)
    return TestClient(app)


def test_the_page_runs_nothing_but_its_own_files(client: TestClient) -> None:
    response = client.get("/")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["content-security-policy"].startswith("default-src 'self'; ")
    assert "unsafe" not in response.headers["content-security-policy"]
    assert not re.search(r"<script(?![^>]* src=)|<style| style=| on[a-z]+=", response.text)
    for path in re.findall(r'(?:href|src)="([^"#]+)"', response.text):
        assert client.get(path).status_code == 200, path


def test_every_file_has_its_kind_and_is_not_sent_twice(client: TestClient) -> None:
    kinds = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml"}
    for file in PAGE.iterdir():
        ending = file.name.rpartition(".")[2]
        if ending == "html":
            continue
        first = client.get(f"/assets/{file.name}")
        assert first.headers["content-type"] == kinds[ending]
        assert first.headers["x-content-type-options"] == "nosniff"
        again = client.get(f"/assets/{file.name}", headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_scripts_import_what_is_there_and_never_write_markup() -> None:
    for file in PAGE.iterdir():
        if not file.name.endswith(".js"):
            continue
        script = file.read_text("utf-8")
        for name in re.findall(r'from "\./([^"]+)"', script):
            assert PAGE.joinpath(name).is_file(), (file.name, name)
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script), file.name


def test_nothing_else_is_served(client: TestClient) -> None:
    for name in ("nothing.js", "..%2Fapp.py", "%2e%2e/app.py", "..%5Capp.py", "index.html%00.js"):
        assert error_of(client.get(f"/assets/{name}"), 404)[0] == "not_found"
