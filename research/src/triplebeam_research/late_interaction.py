"""Late interaction (Khattab & Zaharia, 2020): a query and a passage meet token by token.

Followed: MaxSim (Eq. 3), exact, over vectors that are neither compressed nor pruned. Ours: only the ``candidates`` best
passages of another retriever are encoded and scored; with as many candidates as passages, it is exhaustive. It is
ColBERT where the encoder's weights are ColBERT's; over any other encoder it is only ColBERT's way of scoring, and
``encoder.label`` says so.

A text has a vector per token, made on this machine's processors, from the model folders that embedders are read from.
Any encoder will do, and is named for what it is. ColBERT is a BERT whose ``model.safetensors`` holds a projection,
``linear.weight``, beside the encoder (Khattab & Zaharia, 2020; Santhanam et al., 2022). It is given what its authors
trained it on: a marker behind [CLS], [Q] for a query and [D] for a passage, and queries filled up with [MASK], whose
vectors count although no token attends to them. The rules are in two classes below; both leave out punctuation in
passages.
"""

import string
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed import ENDPOINT, find_model_folder
from triplebeam.embed.embedder import Kind
from triplebeam.embed.model_folder import ModelFolder
from triplebeam.embed.onnx_embedder import batches, open_session, open_tokenizer, unit_rows
from triplebeam.errors import BadInputError
from triplebeam.index.folder.tables import PassageTable
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.retriever import Retriever, check_fields
from triplebeam.system.work import Progress, ignore_progress, processors

#: The layer by which a ColBERT checkpoint is known.
PROJECTION = "linear"
_ASCII = frozenset(string.punctuation)
#: Passages whose token vectors are kept in memory: about 150 kB each, with MiniLM.
MAX_CACHED_PASSAGES = 5_000
Vectors = NDArray[np.float32]


class TokenVectors(NamedTuple):
    """The vectors of several texts, one text after the other.

    Text ``i`` has the rows ``starts[i]`` to ``starts[i + 1]``, at least one; ``starts`` ends with the number of rows.
    """

    vectors: NDArray[np.float32]
    starts: NDArray[np.int64]


class TokenEncoder(Protocol):
    """Turns texts into unit rows, one per token."""

    def encode(self, texts: Sequence[str], kind: Kind = "passage") -> TokenVectors:
        """Return the vectors of the texts' tokens, in order; all of them in memory, so pass as many texts as fit."""
        ...


class Tokens(NamedTuple):
    """A text as the encoder reads it: ids, which of them others attend to, and which have a vector."""

    ids: NDArray[np.int64]
    attended: NDArray[np.bool_]
    kept: NDArray[np.bool_]


class OnnxTokenEncoder:
    """An encoder of tokens read from a folder. Safe to use from several threads at once."""

    def __init__(self, folder: ModelFolder, *, name: str, threads: int | None = None) -> None:
        self._folder, self._name = folder, name
        self._threads = threads or processors()
        self._session = open_session(folder)
        self._inputs = [each.name for each in self._session.get_inputs()]
        outputs = [output for output in self._session.get_outputs() if len(output.shape) == 3]
        if not outputs:
            raise BadInputError(
                f"the model in {folder.path} returns one vector per text and none per token: use another."
            )
        self._output = outputs[0]
        tokenizer = open_tokenizer(folder)
        self._reading: Marked | Plain = (
            Marked.of(folder, tokenizer) if folder.projection else Plain.of(folder, tokenizer)
        )

    @classmethod
    def from_folder(cls, path: Path, *, name: str | None = None, threads: int | None = None) -> Self:
        """Read the model in ``path``, as ColBERT where it has ColBERT's projection."""
        is_colbert = ModelFolder(path).has_weights(f"{PROJECTION}.weight")
        return cls(ModelFolder(path, PROJECTION if is_colbert else None), name=name or str(path), threads=threads)

    @property
    def name(self) -> str:
        """What a user would type to get this encoder again."""
        return self._name

    @property
    def label(self) -> str:
        """What results are reported under."""
        return f"{'ColBERT' if self._folder.projection else 'late_interaction'}({self._name})"

    @cached_property
    def dimension(self) -> int:
        """Length of a vector."""
        declared = self._output.shape[-1]
        return declared if isinstance(declared, int) else self.encode(["dimension"]).vectors.shape[1]

    def encode(self, texts: Sequence[str], kind: Kind = "passage") -> TokenVectors:
        """Return the vectors of the texts' tokens, in order."""
        read = self._reading.read(texts, kind)
        starts = np.concatenate([[0], np.cumsum([text.kept.sum() for text in read], dtype=np.int64)]).astype(np.int64)
        if not read:
            return TokenVectors(np.zeros((0, self.dimension), np.float32), starts)
        chosen = list(batches([len(text.ids) for text in read]))
        with ThreadPoolExecutor(self._threads) as workers:
            found = list(workers.map(lambda rows: self._run([read[row] for row in rows]), chosen))
        vectors = np.empty((starts[-1], found[0].shape[1]), np.float32)
        for rows, unit in zip(chosen, found, strict=True):
            places = [np.arange(starts[row], starts[row + 1]) for row in rows]
            vectors[np.concatenate(places)] = unit
        return TokenVectors(vectors, starts)

    def _run(self, texts: Sequence[Tokens]) -> NDArray[np.float32]:
        """Return the vectors of the kept tokens, text after text."""
        lengths = np.array([len(text.ids) for text in texts])
        there = np.arange(lengths.max()) < lengths[:, None]
        input_ids, mask, kept = np.zeros(there.shape, np.int64), np.zeros(there.shape, np.int64), there.copy()
        input_ids[there] = np.concatenate([text.ids for text in texts])
        mask[there] = np.concatenate([text.attended for text in texts])
        kept[there] = np.concatenate([text.kept for text in texts])
        offered = {"input_ids": input_ids, "attention_mask": mask, "token_type_ids": np.zeros_like(mask)}
        # ONNX Runtime refuses inputs that the graph does not declare.
        hidden = self._session.run([self._output.name], {name: offered[name] for name in self._inputs})[0]
        return unit_rows(hidden[kept])


@dataclass(frozen=True)
class Plain:
    """An encoder that was trained for one vector per text: its tokens unchanged, without the tokenizer's marks."""

    tokenizer: Any
    punctuation: NDArray[np.int64]
    prompts: dict[Kind, str]

    @classmethod
    def of(cls, folder: ModelFolder, tokenizer: Any) -> Self:
        """Read the settings of the folder."""
        prompts: dict[Kind, str] = {"query": folder.prompt("query"), "passage": folder.prompt("document", "passage")}
        return cls(tokenizer, _punctuation(tokenizer), prompts)

    def read(self, texts: Sequence[str], kind: Kind) -> list[Tokens]:
        """Return the tokens of each text."""
        prompt = self.prompts[kind]
        encodings = self.tokenizer.encode_batch_fast([prompt + text for text in texts])
        return [self._tokens(encoding.ids, encoding.special_tokens_mask, kind) for encoding in encodings]

    def _tokens(self, ids: list[int], marks: list[int], kind: Kind) -> Tokens:
        # A tokenizer that adds no marks of its own leaves nothing of an empty text: one padding token represents it.
        read = np.array(ids or [0], np.int64)
        own = np.array(marks or [0]) == 0
        kept = own & ~np.isin(read, self.punctuation) if kind == "passage" else own
        # Every text has a vector, even one of nothing but punctuation, or an empty one.
        kept = kept if kept.any() else own if own.any() else np.ones_like(own)
        return Tokens(read, np.ones_like(own), kept)


@dataclass(frozen=True)
class Marked:
    """ColBERT's: [CLS] [Q] query [SEP] [MASK]… and [CLS] [D] passage [SEP], where the marks have vectors too."""

    tokenizer: Any
    punctuation: NDArray[np.int64]
    marks: dict[str, int]
    query_length: int
    passage_length: int
    attend_to_masks: bool

    @classmethod
    def of(cls, folder: ModelFolder, tokenizer: Any) -> Self:
        """Read the checkpoint's ``artifact.metadata``, or else use what ColBERTv2 was trained with."""
        said = folder.read_config("artifact.metadata")
        words = {"query": said.get("query_token_id", "[unused0]"), "passage": said.get("doc_token_id", "[unused1]")}
        words |= {"begin": "[CLS]", "end": "[SEP]", "mask": "[MASK]"}
        marks = {role: tokenizer.token_to_id(word) for role, word in words.items()}
        for role, word in words.items():
            if marks[role] is None:
                raise BadInputError(f"the tokenizer in {folder.path} has no token {word!r}, which ColBERT needs.")
        skipped = _punctuation(tokenizer) if said.get("mask_punctuation", True) else np.zeros(0, np.int64)
        return cls(
            tokenizer,
            skipped,
            marks,
            query_length=min(int(said.get("query_maxlen", 32)), folder.longest),
            passage_length=min(int(said.get("doc_maxlen", 180)), folder.longest),
            attend_to_masks=bool(said.get("attend_to_mask_tokens", False)),
        )

    def read(self, texts: Sequence[str], kind: Kind) -> list[Tokens]:
        """Return the tokens of each text."""
        encodings = self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        longest = self.query_length if kind == "query" else self.passage_length
        ends = self.marks["begin"], self.marks[kind], self.marks["end"]
        read = [[*ends[:2], *encoding.ids[: longest - len(ends)], ends[2]] for encoding in encodings]
        return [self._query(ids) if kind == "query" else self._passage(ids) for ids in read]

    def _passage(self, ids: list[int]) -> Tokens:
        read = np.array(ids, np.int64)
        return Tokens(read, np.ones(len(read), np.bool_), ~np.isin(read, self.punctuation))

    def _query(self, ids: list[int]) -> Tokens:
        read = np.full(self.query_length, self.marks["mask"], np.int64)
        read[: len(ids)] = ids
        attended = (np.arange(self.query_length) < len(ids)) | self.attend_to_masks
        return Tokens(read, attended, np.ones_like(attended))


def _punctuation(tokenizer: Any) -> NDArray[np.int64]:
    """Return the tokens of ASCII punctuation alone, whatever a tokenizer puts in front of a word or its rest."""
    vocabulary = ((token.removeprefix("##").lstrip("▁Ġ"), id_) for token, id_ in tokenizer.get_vocab().items())
    return np.array(sorted(id_ for token, id_ in vocabulary if token and set(token) <= _ASCII), np.int64)


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


@dataclass(frozen=True, kw_only=True)
class LateInteraction:
    """The candidates of highest MaxSim."""

    base: Retriever
    encoder: TokenEncoder
    passages: PassageTable = field(repr=False)
    candidates: int = 100
    """Passages of the base that are scored."""
    _cached: dict[str, Vectors] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_fields(self)

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """Return the k candidates of highest MaxSim."""
        if k < 1:
            return Ranking()
        ids = self.base.retrieve(query, max(k, self.candidates)).ids
        asked = self.encoder.encode([query], "query").vectors
        scores = (max_sim(asked, vectors) for vectors in self._encode(ids))
        return Ranking.of(Hit(id_, score) for id_, score in zip(ids, scores, strict=True)).top(k)

    def _encode(self, ids: Sequence[str]) -> list[Vectors]:
        """Return the token vectors of each passage; those of recent passages are cached."""
        found = {id_: self._cached[id_] for id_ in ids if id_ in self._cached}
        missing = [id_ for id_ in ids if id_ not in found]
        vectors, starts = self.encoder.encode([self.passages[id_].searchable for id_ in missing])
        found |= {id_: vectors[starts[place] : starts[place + 1]] for place, id_ in enumerate(missing)}
        if len(self._cached) + len(missing) > MAX_CACHED_PASSAGES:
            self._cached.clear()
        self._cached.update(found)
        return [found[id_] for id_ in ids]


def max_sim(query: Vectors, passage: Vectors) -> float:
    """Eq. 3: for each token of the query its nearest token of the passage, summed."""
    return float((query @ passage.T).max(axis=1).sum())
