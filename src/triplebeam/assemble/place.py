"""Where an index is: a folder, or the address of a cluster, which has a local folder, too."""

from pathlib import Path

from triplebeam.index.opensearch.address import Address, is_address
from triplebeam.settings import Settings


def index_folder(place: str | Path, settings: Settings) -> Path:
    """The folder of an index; that of an address is made where it is not there."""
    return Address.parse(str(place)).folder(settings.state) if is_address(place) else Path(place)
