from serve.http.conftest import client, data, make  # noqa: F401 - fixtures
