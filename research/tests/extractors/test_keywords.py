"""Keywords asked of a model: beside another extractor's triples, and as edges between passages."""

import json
from pathlib import Path

import numpy as np
import pytest

from small_world import TRIPLES, TableExtractor, world_documents
from triplebeam.assemble import make_extractor
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, ModelMissingError
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Passage
from triplebeam.settings import Settings
from triplebeam.testing.scripted import Scripted
from triplebeam_research.extractors.keywords import WithKeywords
from triplebeam_research.templates import load

FILM = Passage(id="film", title="Laughter in Hell", text="A drama film directed by Edward Cahn.")
CITY = Passage(id="city", title="Milwaukee", text="Milwaukee lies in Wisconsin.")


def reply(*names: str) -> str:
    return json.dumps({"entities": names})


def test_triples_stay_and_keywords_take_the_place_of_entities() -> None:
    with Scripted([reply("Laughter in Hell", " Edward L. Cahn", "Edward L. Cahn"), reply()]) as model:
        film, city = WithKeywords(TableExtractor(TRIPLES), model).extract([FILM, CITY])
    assert film.triples == tuple(TRIPLES["film"])
    assert film.entities == ("Laughter in Hell", "Edward L. Cahn")
    assert (city.triples, city.entities) == (tuple(TRIPLES["city"]), ())
    assert model.prompts[0].user == "Passage:\nLaughter in Hell\nA drama film directed by Edward Cahn."


def test_the_name_tells_both() -> None:
    extractor = WithKeywords(TableExtractor(TRIPLES), Scripted([], name="toy"))
    assert extractor.name == f"table:1+keywords:toy:{load('keywords').version}"


def test_a_reply_that_is_no_use_fails_its_passage_alone() -> None:
    with Scripted(["no", reply("Milwaukee"), "no again"]) as model:
        film, city = WithKeywords(TableExtractor(TRIPLES), model).extract([FILM, CITY])
    assert film.failure is not None
    assert city.entities == ("Milwaukee",)


def test_passages_that_share_a_keyword_are_joined(tmp_path: Path, words: Embedder) -> None:
    """Film and director share an entity of their triples, film and lake a keyword: the keyword joins.

    A passage for which the model names nothing is joined by its triples, as actor and city are.
    """
    keywords = {"film": ["Water"], "director": ["Edward Cahn"], "lake": ["water"]}
    replies = [
        reply(*keywords.get(document.id, [])) for document in sorted(world_documents(), key=lambda each: each.id)
    ]
    extractor = WithKeywords(TableExtractor(TRIPLES), Scripted(replies))
    IndexBuilder(folder=tmp_path / "i", embedder=words, extractor=extractor).build(world_documents())
    index = Snapshot.open(tmp_path / "i")

    def joined(passage_id: str) -> list[str]:
        row = np.array([index.passages.row(passage_id)])
        return index.passages.ids(index.passage_graph.find_incident(row, ("keyword",))[1])

    assert joined("film") == ["lake"]
    assert joined("director") == []
    assert joined("actor") == ["city"]
    assert len(index.triples) == sum(map(len, TRIPLES.values()))


def test_what_cannot_be_meant() -> None:
    with pytest.raises(ModelMissingError, match="--keywords needs a language model"):
        make_extractor("local", Path("triples.jsonl"), Settings(model=None), keywords=True)
    with pytest.raises(BadInputError, match="--keywords goes with an extractor"):
        make_extractor("none", None, Settings(model="m"), keywords=True)
