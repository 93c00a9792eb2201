"""Settings, read once, at the edge: flag, then environment, then ``triplebeam.toml``, then default."""

from pathlib import Path

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from triplebeam.errors import BadInputError

CONFIG_FILE = "triplebeam.toml"


class Settings(BaseSettings):
    """What a user can set for all commands. Each field is ``TRIPLEBEAM_<NAME>`` in the environment."""

    model_config = SettingsConfigDict(
        env_prefix="TRIPLEBEAM_",
        env_ignore_empty=True,
        toml_file=CONFIG_FILE,
        frozen=True,
        extra="forbid",
        populate_by_name=True,
    )

    home: Path = Field(default_factory=lambda: platformdirs.user_cache_path("triplebeam"))
    """Where model weights are kept."""
    embedder: str | None = None
    """minilm, a folder with an ONNX model, a model hub's name, or openai:MODEL. Unless set: the index's own."""
    offline: bool = False
    """Fetch nothing, ever."""
    model: str | None = None
    """The chat model, for `--extractor llm`."""
    base_url: str | None = Field(None, validation_alias=AliasChoices("TRIPLEBEAM_BASE_URL", "OPENAI_BASE_URL"))
    """The OpenAI-compatible endpoint."""
    api_key: SecretStr | None = Field(None, validation_alias=AliasChoices("TRIPLEBEAM_API_KEY", "OPENAI_API_KEY"))

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The order of precedence."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def read_settings(**flags: object) -> Settings:
    """Settings with what was given on the command line; a flag of None was not given."""
    given = {name: value for name, value in flags.items() if value is not None}
    try:
        return Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadInputError(
            f"the setting {place} cannot be used: {first['msg']} (in a flag, the environment, or {CONFIG_FILE})."
        ) from None
    except (SettingsError, ValueError) as error:
        raise BadInputError(f"{CONFIG_FILE} cannot be read: {error}.") from error
