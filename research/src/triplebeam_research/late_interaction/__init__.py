"""Late interaction (Khattab & Zaharia, 2020): ColBERT's scoring, exact, over the passages that another search found."""

from pathlib import Path

from triplebeam.embed import ENDPOINT, find_model_folder
from triplebeam.errors import BadInputError
from triplebeam.system.progress import Progress, ignore_progress
from triplebeam_research.late_interaction.onnx_token_encoder import OnnxTokenEncoder
from triplebeam_research.late_interaction.retrieve import LateInteraction
from triplebeam_research.late_interaction.token_encoder import TokenEncoder

__all__ = ["LateInteraction", "TokenEncoder", "load_token_encoder"]


def load_token_encoder(
    name: str, home: Path, *, offline: bool = False, progress: Progress = ignore_progress
) -> TokenEncoder:
    """Load an encoder of tokens by name: ``minilm``, a folder that holds a model, or ``organisation/model``."""
    if name.startswith(ENDPOINT):
        raise BadInputError(
            f"{name!r} returns one vector per text and none per token: name 'minilm', a folder or 'organisation/model'."
        )
    folder, known_as = find_model_folder(name, home, offline=offline, progress=progress)
    return OnnxTokenEncoder.from_folder(folder, name=known_as)
