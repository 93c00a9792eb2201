"""Settings: who is listened to first, and what is never shown."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from triplebeam.errors import BadInputError
from triplebeam.settings import Endpoint, Settings, read_settings, unknown_variables

KEY = "sk-very-secret"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder, and an environment that says nothing."""
    for field in Settings.model_fields:
        monkeypatch.delenv(f"TRIPLEBEAM_{field.upper()}", raising=False)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def toml(text: str) -> None:
    Path("triplebeam.toml").write_text(text, encoding="utf-8")


def test_defaults() -> None:
    settings = read_settings()
    assert (settings.embedder, settings.offline, settings.model) == (None, False, None)
    assert (settings.base_url, settings.api_key) == (None, None)
    assert settings.home.name == "triplebeam"


@pytest.mark.parametrize("field", ["embedder", "model", "base_url"])
def test_flag_then_environment_then_file(monkeypatch: pytest.MonkeyPatch, field: str) -> None:
    toml(f'{field} = "from the file"')
    assert getattr(read_settings(), field) == "from the file"
    monkeypatch.setenv(f"TRIPLEBEAM_{field.upper()}", "from the environment")
    assert getattr(read_settings(), field) == "from the environment"
    assert getattr(read_settings(**{field: None}), field) == "from the environment"
    assert getattr(read_settings(**{field: "from a flag"}), field) == "from a flag"


def test_home_and_offline(monkeypatch: pytest.MonkeyPatch, clean: Path) -> None:
    monkeypatch.setenv("TRIPLEBEAM_HOME", str(clean))
    monkeypatch.setenv("TRIPLEBEAM_OFFLINE", "1")
    assert (read_settings().home, read_settings().offline) == (clean, True)


def test_an_empty_variable_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRIPLEBEAM_OFFLINE", "TRIPLEBEAM_HOME", "TRIPLEBEAM_BASE_URL"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert read_settings().home.name == "triplebeam"
    assert read_settings().base_url == "http://127.0.0.1:9/v1"


def test_openai_s_own_variables_are_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    settings = read_settings()
    assert settings.base_url == "http://127.0.0.1:9/v1"
    assert settings.api_key is not None
    assert settings.api_key.get_secret_value() == KEY


def test_openai_s_key_is_not_sent_to_another_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert read_settings().api_key is not None
    assert read_settings(base_url="http://127.0.0.1:9/v1").api_key is None


ROLES = [name.removesuffix("base_url") for name in Settings.model_fields if name.endswith("base_url")]


@pytest.mark.parametrize("role", ROLES)
def test_no_key_goes_to_an_endpoint_that_only_the_folder_names(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, role: str
) -> None:
    """The folder may be a clone of somebody else's."""
    endpoint = f"http://127.0.0.1:9/{role}"
    toml(f'{role}base_url = "{endpoint}"')
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv(f"TRIPLEBEAM_{role.upper()}API_KEY", KEY)
    settings = read_settings()
    assert settings.endpoint(role.strip("_") or "answering") == Endpoint(None, endpoint, None)
    assert KEY not in caplog.text
    assert f"set TRIPLEBEAM_{role.upper()}BASE_URL to it if you trust it" in caplog.text
    monkeypatch.setenv(f"TRIPLEBEAM_{role.upper()}BASE_URL", endpoint)
    key = read_settings().endpoint(role.strip("_") or "answering").api_key
    assert key is not None
    assert key.get_secret_value() == KEY


@pytest.mark.parametrize("role", ROLES[1:])
def test_no_key_of_a_role_goes_to_the_main_endpoint_that_only_the_folder_names(
    monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    endpoint = "http://127.0.0.1:9/v1"
    toml(f'base_url = "{endpoint}"')
    monkeypatch.setenv(f"TRIPLEBEAM_{role.upper()}API_KEY", KEY)
    assert read_settings().endpoint(role.strip("_")) == Endpoint(None, endpoint, None)
    for trusted in (f"TRIPLEBEAM_{role.upper()}BASE_URL", "TRIPLEBEAM_BASE_URL", "OPENAI_BASE_URL"):
        with monkeypatch.context() as trusting:
            trusting.setenv(trusted, endpoint)
            key = read_settings().endpoint(role.strip("_")).api_key
            assert key is not None
            assert key.get_secret_value() == KEY


@pytest.mark.parametrize("role", ROLES)
def test_no_key_of_a_flag_goes_to_an_endpoint_that_only_the_folder_names(role: str) -> None:
    toml(f'{role}base_url = "http://127.0.0.1:9/v1"')
    settings = read_settings(**{f"{role}api_key": KEY})
    assert settings.endpoint(role.strip("_") or "answering").api_key is None


def test_a_key_in_the_file_is_for_the_file_s_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    toml('base_url = "http://127.0.0.1:9/v1"\napi_key = "of the file"')
    monkeypatch.setenv("TRIPLEBEAM_API_KEY", KEY)
    key = read_settings().api_key
    assert key is not None
    assert key.get_secret_value() == "of the file"


def test_a_file_that_names_openai_may_have_openai_s_key(monkeypatch: pytest.MonkeyPatch) -> None:
    toml('base_url = "https://api.openai.com/v1"')
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert read_settings().api_key is not None


def test_our_own_variables_come_before_openai_s(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"API_KEY": KEY, "BASE_URL": "http://127.0.0.1:9/ours"}.items():
        monkeypatch.setenv(f"OPENAI_{name}", "theirs")
        monkeypatch.setenv(f"TRIPLEBEAM_{name}", value)
    settings = read_settings()
    assert settings.base_url == "http://127.0.0.1:9/ours"
    assert settings.api_key is not None
    assert settings.api_key.get_secret_value() == KEY


def test_openai_s_variables_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    toml('base_url = "from the file"\napi_key = "from the file"')
    monkeypatch.setenv("OPENAI_BASE_URL", "from the environment")
    monkeypatch.setenv("OPENAI_API_KEY", "a key for somebody else")
    assert read_settings().base_url == "from the file"
    assert read_settings(base_url="from a flag").base_url == "from a flag"
    key = read_settings().api_key
    assert key is not None
    assert key.get_secret_value() == "from the file"


def test_the_key_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIPLEBEAM_API_KEY", KEY)
    settings = read_settings()
    for shown in (repr(settings), str(settings), repr(settings.model_dump()), settings.model_dump_json()):
        assert KEY not in shown


def test_settings_are_not_changed_under_way() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        read_settings().offline = True


def test_a_value_that_cannot_be_used_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIPLEBEAM_OFFLINE", "perhaps")
    with pytest.raises(BadInputError, match="the setting offline cannot be used") as caught:
        read_settings()
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_toml_is_reported_in_one_line() -> None:
    toml("offline = maybe")
    with pytest.raises(BadInputError, match=r"triplebeam\.toml cannot be read") as caught:
        read_settings()
    assert "\n" not in str(caught.value)


def test_an_unknown_name_in_the_file_is_reported() -> None:
    toml('embeder = "minilm"')
    with pytest.raises(BadInputError, match="embeder"):
        read_settings()


def test_a_role_has_an_endpoint_of_its_own_and_no_key_goes_astray(clean: Path) -> None:
    main = {"model": "big", "base_url": "http://one/v1", "api_key": "main-key"}
    plain = Settings(**main)
    assert plain.endpoint("reading") == plain.endpoint("answering") == plain.endpoint("extraction")
    elsewhere = Settings(**main, extraction_model="small", extraction_base_url="http://two/v1")
    assert elsewhere.endpoint("extraction").model == "small"
    assert elsewhere.endpoint("extraction").base_url == "http://two/v1"
    assert elsewhere.endpoint("extraction").api_key is None, "the main key is not sent to another address"
    assert elsewhere.endpoint("reading").model == "big"
    same_address = Settings(**main, reading_model="quick")
    key = same_address.endpoint("reading").api_key
    assert key is not None
    assert key.get_secret_value() == "main-key"


def test_a_tilde_is_the_users_folder(clean: Path) -> None:
    assert Settings(home=Path("~/models")).home == Path("~/models").expanduser()


def test_only_variables_that_look_like_settings_and_are_none_are_noticed() -> None:
    known = [f"TRIPLEBEAM_{field.upper()}" for field in Settings.model_fields]
    others = ["TRIPLEBEAM_DATA", "TRIPLEBEAM_TRACING", "triplebeam_model", "_TRIPLEBEAM_COMPLETE", "PATH"]
    assert unknown_variables([*known, *others]) == []
    assert [line.split()[3] for line in unknown_variables(["TRIPLEBEAM_QQ", "TRIPLEBEAM_HOEM"])] == [
        "TRIPLEBEAM_HOEM",
        "TRIPLEBEAM_QQ",
    ]


@pytest.mark.parametrize(
    ("compute", "precision", "on_gpu", "on_cluster"),
    [
        ("fp32", "fp32", False, False),
        ("int8", "int8", False, False),
        ("fp32@gpu", "fp32", True, False),
        ("fp32@ray", "fp32", False, True),
        ("int8@ray", "int8", False, True),
    ],
)
def test_one_setting_says_how_and_where_texts_are_encoded(
    compute: str, precision: str, on_gpu: bool, on_cluster: bool
) -> None:
    settings = read_settings(compute=compute)
    assert (settings.precision, settings.on_gpu, settings.on_cluster) == (precision, on_gpu, on_cluster)


@pytest.mark.parametrize("compute", ["cuda", "int8@gpu"])
def test_another_way_of_encoding_is_refused(compute: str) -> None:
    with pytest.raises(BadInputError, match="the setting compute cannot be used"):
        read_settings(compute=compute)


def test_a_table_in_the_environment_is_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("triplebeam_parameters", '{"reasoning_effort": "low"}')
    assert read_settings().parameters == {"reasoning_effort": "low"}
    monkeypatch.setenv("triplebeam_parameters", "reasoning_effort=low")
    with pytest.raises(BadInputError, match=r"TRIPLEBEAM_PARAMETERS is not JSON .*write a table as"):
        read_settings()
