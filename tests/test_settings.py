"""Settings: who is listened to first, and what is never shown."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from triplebeam.errors import BadInputError
from triplebeam.settings import Endpoint, Settings, read_settings, unknown_variables

KEY = "sk-very-secret"
URL = "http://127.0.0.1:9/v1"


def reveal(key: SecretStr | None) -> str | None:
    return key and key.get_secret_value()


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


@pytest.mark.parametrize("field", ["embedder", "model", "base_url"])
def test_flag_then_environment_then_file(monkeypatch: pytest.MonkeyPatch, field: str) -> None:
    toml(f'{field} = "from the file"')
    assert getattr(read_settings(), field) == "from the file"
    monkeypatch.setenv(f"TRIPLEBEAM_{field.upper()}", "from the environment")
    assert getattr(read_settings(), field) == "from the environment"
    assert getattr(read_settings(**{field: None}), field) == "from the environment"
    assert getattr(read_settings(**{field: "from a flag"}), field) == "from a flag"


def arrange(file: str, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    toml(file)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


def test_a_folder_a_switch_and_a_table_in_the_environment(monkeypatch: pytest.MonkeyPatch, clean: Path) -> None:
    monkeypatch.setenv("TRIPLEBEAM_HOME", str(clean))
    monkeypatch.setenv("TRIPLEBEAM_OFFLINE", "1")
    monkeypatch.setenv("triplebeam_parameters", '{"reasoning_effort": "low"}')
    settings = read_settings()
    assert (settings.home, settings.offline, settings.parameters) == (clean, True, {"reasoning_effort": "low"})
    assert Settings(home=Path("~/models")).home == Path("~/models").expanduser()


THEIRS = {"OPENAI_API_KEY": "theirs", "OPENAI_BASE_URL": "http://theirs/v1"}
OUR_FILE = f'base_url = "{URL}"\napi_key = "of the file"'


@pytest.mark.parametrize(
    ("file", "environment", "flags", "base_url", "key"),
    [
        ("", THEIRS, {}, THEIRS["OPENAI_BASE_URL"], "theirs"),
        ("", THEIRS | {"TRIPLEBEAM_BASE_URL": "", "TRIPLEBEAM_HOME": ""}, {}, THEIRS["OPENAI_BASE_URL"], "theirs"),
        ("", {"OPENAI_API_KEY": KEY}, {}, None, KEY),
        ("", {"OPENAI_API_KEY": KEY}, {"base_url": URL}, URL, None),  # their key is for their endpoint
        ("", THEIRS | {"TRIPLEBEAM_API_KEY": KEY, "TRIPLEBEAM_BASE_URL": URL}, {}, URL, KEY),
        (OUR_FILE, {"TRIPLEBEAM_API_KEY": KEY}, {}, URL, "of the file"),  # a file's key is for the file's endpoint
        (OUR_FILE, THEIRS, {}, URL, "of the file"),
        ('base_url = "https://api.openai.com/v1"', {"OPENAI_API_KEY": KEY}, {}, "https://api.openai.com/v1", KEY),
    ],
)
def test_which_key_goes_where(
    file: str,
    environment: dict[str, str],
    flags: dict[str, str],
    base_url: str,
    key: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arrange(file, environment, monkeypatch)
    settings = read_settings(**flags)
    assert settings.home.name == "triplebeam"
    assert (settings.base_url, reveal(settings.api_key)) == (base_url, key)


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
    assert reveal(read_settings().endpoint(role.strip("_") or "answering").api_key) == KEY


@pytest.mark.parametrize("role", ROLES[1:])
def test_no_key_of_a_role_goes_to_an_endpoint_of_the_folder(monkeypatch: pytest.MonkeyPatch, role: str) -> None:
    toml(f'base_url = "{URL}"')
    monkeypatch.setenv(f"TRIPLEBEAM_{role.upper()}API_KEY", KEY)
    assert read_settings().endpoint(role.strip("_")) == Endpoint(None, URL, None)
    for trusted in (f"TRIPLEBEAM_{role.upper()}BASE_URL", "TRIPLEBEAM_BASE_URL", "OPENAI_BASE_URL"):
        with monkeypatch.context() as trusting:
            trusting.setenv(trusted, URL)
            assert reveal(read_settings().endpoint(role.strip("_")).api_key) == KEY


@pytest.mark.parametrize("role", ROLES)
def test_no_key_of_a_flag_goes_to_an_endpoint_that_only_the_folder_names(role: str) -> None:
    toml(f'{role}base_url = "{URL}"')
    settings = read_settings(**{f"{role}api_key": KEY})
    assert settings.endpoint(role.strip("_") or "answering").api_key is None


def test_the_key_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIPLEBEAM_API_KEY", KEY)
    settings = read_settings()
    for shown in (repr(settings), str(settings), repr(settings.model_dump()), settings.model_dump_json()):
        assert KEY not in shown


@pytest.mark.parametrize(
    ("file", "environment", "said"),
    [
        ("", {"TRIPLEBEAM_OFFLINE": "perhaps"}, "the setting offline cannot be used"),
        ("", {"TRIPLEBEAM_COMPUTE": "cuda"}, "the setting compute cannot be used"),
        ("", {"TRIPLEBEAM_COMPUTE": "int8@gpu"}, "the setting compute cannot be used"),
        ("", {"triplebeam_parameters": "effort=low"}, r"TRIPLEBEAM_PARAMETERS is not JSON .*write a table as"),
        ("offline = maybe", {}, r"triplebeam\.toml cannot be read"),
        ('embeder = "minilm"', {}, "embeder"),
    ],
)
def test_what_cannot_be_used_is_reported_in_one_line(
    file: str, environment: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrange(file, environment, monkeypatch)
    with pytest.raises(BadInputError, match=said) as caught:
        read_settings()
    assert "\n" not in str(caught.value)


def test_a_role_has_an_endpoint_of_its_own_and_no_key_goes_astray(clean: Path) -> None:
    main = {"model": "big", "base_url": "http://one/v1", "api_key": "main-key"}
    plain = Settings(**main)
    assert plain.endpoint("reading") == plain.endpoint("answering") == plain.endpoint("extraction")
    elsewhere = Settings(**main, extraction_model="small", extraction_base_url="http://two/v1")
    assert elsewhere.endpoint("extraction") == Endpoint("small", "http://two/v1", None), (
        "the main key is not sent there"
    )
    assert elsewhere.endpoint("reading").model == "big"
    assert reveal(Settings(**main, reading_model="quick").endpoint("reading").api_key) == "main-key"


def test_only_variables_that_look_like_settings_and_are_none_are_noticed() -> None:
    known = [f"TRIPLEBEAM_{field.upper()}" for field in Settings.model_fields]
    others = ["TRIPLEBEAM_DATA", "TRIPLEBEAM_TRACING", "triplebeam_model", "_TRIPLEBEAM_COMPLETE", "PATH"]
    assert unknown_variables([*known, *others]) == []
    noticed = [line.split()[3] for line in unknown_variables(["TRIPLEBEAM_QQ", "TRIPLEBEAM_HOEM"])]
    assert noticed == ["TRIPLEBEAM_HOEM", "TRIPLEBEAM_QQ"]


@pytest.mark.parametrize("compute", ["fp32", "int8", "fp32@gpu", "fp32@ray", "int8@ray"])
def test_how_and_where_texts_are_encoded(compute: str) -> None:
    settings = read_settings(compute=compute)
    precision, _, place = compute.partition("@")
    assert (settings.precision, settings.on_gpu) == (precision, place == "gpu")
