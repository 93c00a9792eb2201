"""Files from a model hub, with a quick failure where none can be reached."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from triplebeam.errors import ModelMissingError

_SECONDS_TO_ANSWER = 5.0


def check_reachable(repository: str) -> None:
    """Ask for one file's headers, once: the library's own calls retry for half a minute."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    with _explain_errors(repository):
        get_hf_file_metadata(hf_hub_url(repository, "config.json"), timeout=_SECONDS_TO_ANSWER)


def download(repository: str, file: str, into: Path) -> None:
    """Download one file of a repository into a folder."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.utils.tqdm import silent_tqdm

    with _explain_errors(repository):
        hf_hub_download(repository, file, local_dir=into, tqdm_class=silent_tqdm)


def sizes(repository: str) -> dict[str, int]:
    """Return the files of a repository, by name, with their lengths."""
    from huggingface_hub import HfApi

    with _explain_errors(repository):
        siblings = HfApi().model_info(repository, files_metadata=True, timeout=_SECONDS_TO_ANSWER).siblings or []
    return {file.rfilename: file.size or 0 for file in sorted(siblings, key=lambda file: file.rfilename)}


@contextmanager
def _explain_errors(repository: str) -> Iterator[None]:
    # The root error of whichever HTTP client the library is built on, which it imports but does not re-export.
    from huggingface_hub.errors import HTTPError, XetDownloadError  # type: ignore[attr-defined]

    try:
        yield
    except (HTTPError, XetDownloadError, OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelMissingError(f"the model hub did not return {repository} ({reason})") from error
