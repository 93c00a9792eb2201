"""Two calls a passage, what a failure of either costs, and keywords of a model beside another extractor's triples."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from small_world import TRIPLES, TableExtractor, world_documents
from triplebeam.assemble import make_extractor
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, ModelMissingError
from triplebeam.extract.extractor import Extraction, Extractor
from triplebeam.generate.accounting import Accounted, account
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Passage
from triplebeam.settings import Settings
from triplebeam.testing.contracts import ExtractorContract
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple
from triplebeam_research.extractors.keywords import WithKeywords
from triplebeam_research.extractors.two_step import TwoStepExtractor
from triplebeam_research.templates import load

OSLO = Passage(id="p1", title="Oslo", text="It is the capital of Norway.")
LIMA = Passage(id="p2", text="Lima is the capital of Peru.")
ROME = Passage(id="p3", text="Rome is the capital of Italy.")


def entities(*names: object) -> str:
    return json.dumps({"entities": names})


def triples(*rows: object) -> str:
    return json.dumps({"triples": rows})


#: Fits both questions: what is not asked for is passed over.
BOTH = {
    city: json.dumps({"entities": [city, land], "triples": [[city, "is in", land]]})
    for city, land in [("Oslo", "Norway"), ("Lima", "Peru"), ("Rome", "Italy")]
}


class TestContract(ExtractorContract):
    @pytest.fixture
    def extractor(self) -> Extractor:
        film = ["Laughter in Hell", " directed by ", "Edward Cahn"]
        replies = {
            "drama film": json.dumps({"entities": ["Edward Cahn"], "triples": [film, film, ["", "is", "nothing"]]}),
            "died in 1963": "this is not JSON",
            "…": json.dumps({"entities": [], "triples": []}),
        }
        return TwoStepExtractor(Scripted(replies), batch_size=2)


def test_the_second_question_has_the_entities_of_the_first() -> None:
    replies = [entities("Oslo", " Norway", "", "Oslo", 1814), triples(["Oslo", " is the capital of ", "Norway"])]
    with Scripted(replies) as model:
        [extraction] = TwoStepExtractor(model).extract([OSLO])
    assert extraction == Extraction(
        passage_id="p1", triples=(Triple("Oslo", "is the capital of", "Norway"),), entities=("Oslo", "Norway", "1814")
    )
    first, second = model.prompts
    assert (first.template, second.template) == ("extract_entities", "extract_triples")
    assert first.user == "Passage:\nOslo\nIt is the capital of Norway."
    assert second.user == f'{first.user}\n\nEntities:\n["Oslo", "Norway", "1814"]'


@pytest.mark.parametrize(
    ("listed", "shown"),
    [
        ('["Tromsø", "a\\ud800b"]', '["Tromsø", "a\ufffdb"]'),  # as they are written, and can be sent
        ("[]", "[]"),  # asked for triples all the same
    ],
)
def test_the_names_that_the_second_question_is_shown(listed: str, shown: str) -> None:
    with Scripted([f'{{"entities": {listed}}}', triples(["water", "boils at", "100 °C"])]) as model:
        [extraction] = TwoStepExtractor(model).extract([OSLO])
    assert extraction.entities == tuple(json.loads(shown))
    assert extraction.triples == (Triple("water", "boils at", "100 °C"),)
    assert model.prompts[1].user.endswith(f"Entities:\n{shown}")


def test_names_tell_model_and_prompts() -> None:
    model, entities, triples = Scripted([], name="toy"), load("extract_entities"), load("extract_triples")
    assert TwoStepExtractor(model).name == f"llm-two-step:toy:{entities.version}-{triples.version}"
    assert WithKeywords(TableExtractor(TRIPLES), model).name == f"table:1+keywords:toy:{load('keywords').version}"


def test_a_batch_is_asked_for_entities_and_then_for_triples() -> None:
    with Scripted(BOTH) as model:
        extractions = TwoStepExtractor(model, batch_size=2).extract(iter([OSLO, LIMA, ROME]))
        assert next(extractions).passage_id == "p1"
        assert [prompt.template for prompt in model.prompts] == ["extract_entities"] * 2 + ["extract_triples"] * 2
        assert [extraction.passage_id for extraction in extractions] == ["p2", "p3"]


def test_either_reply_is_corrected_once_and_all_calls_are_charged() -> None:
    replies = ["no JSON", entities("Oslo"), "no JSON", triples(["Oslo", "is in", "Norway"], ["a", None, "c"])]
    with Scripted(replies) as model, account() as spent:
        [extraction] = TwoStepExtractor(Accounted(model)).extract([OSLO])
    assert extraction.triples == (Triple("Oslo", "is in", "Norway"),)
    assert extraction.rejected == (("a", "", "c"),)
    assert [prompt.correction is not None for prompt in model.prompts] == [False, True, False, True]
    assert spent.usage.calls == 4


def test_a_passage_fails_alone_and_without_a_usable_list_it_is_not_asked_for_triples() -> None:
    """In either step; `ask_many`, which every extractor uses, handles prompts and endpoints that fail."""
    with Scripted({**BOTH, "Lima": "no JSON", "Rome": entities("Rome")}) as model:
        oslo, lima, rome = TwoStepExtractor(model).extract([OSLO, LIMA, ROME])
    assert "holds no JSON object" in (lima.failure or "")
    assert "triples: Field required" in (rome.failure or "")
    assert (oslo.triples, oslo.entities) == ((Triple("Oslo", "is in", "Norway"),), ("Oslo", "Norway"))
    asked = [prompt.user for prompt in model.prompts if prompt.template == "extract_triples"]
    assert not any("Lima" in user for user in asked)


def test_the_prompts_own_examples_follow_their_rules() -> None:
    block = r"Example passage:\n(.+?)\n\nExample reply:\n(\{.+?\})(?=\n|$)"
    examples = re.findall(block, load("extract_entities").system, re.DOTALL)
    named = [json.loads(reply)["entities"] for _, reply in examples]
    for (passage, _), names in zip(examples, named, strict=True):
        assert [name for name in names if name not in passage] == []
    block = r"Example entities:\n(\[.+?\])\n\nExample reply:\n(\{.+?\})(?=\n|$)"
    rows = re.findall(block, load("extract_triples").system)
    assert [json.loads(listed) for listed, _ in rows] == named
    for names, (_, reply) in zip(named, rows, strict=True):
        assert [row for row in json.loads(reply)["triples"] if not {row[0], row[2]} & {*names}] == []


FILM = Passage(id="film", title="Laughter in Hell", text="A drama film directed by Edward Cahn.")
CITY = Passage(id="city", title="Milwaukee", text="Milwaukee lies in Wisconsin.")


def test_triples_stay_and_keywords_take_the_place_of_entities() -> None:
    with Scripted([entities("Laughter in Hell", " Edward L. Cahn", "Edward L. Cahn"), entities()]) as model:
        film, city = WithKeywords(TableExtractor(TRIPLES), model).extract([FILM, CITY])
    assert film.triples == tuple(TRIPLES["film"])
    assert film.entities == ("Laughter in Hell", "Edward L. Cahn")
    assert (city.triples, city.entities) == (tuple(TRIPLES["city"]), ())
    assert model.prompts[0].user == "Passage:\nLaughter in Hell\nA drama film directed by Edward Cahn."
    with Scripted(["no", entities("Milwaukee"), "no again"]) as model:
        film, city = WithKeywords(TableExtractor(TRIPLES), model).extract([FILM, CITY])
    assert (bool(film.failure), city.entities) == (True, ("Milwaukee",)), "a passage fails alone"


def test_passages_that_share_a_keyword_are_joined(tmp_path: Path, words: Embedder) -> None:
    """Film and director share an entity of their triples, film and lake a keyword: the keyword joins.

    A passage for which the model names nothing is joined by its triples, as actor and city are.
    """
    keywords = {"film": ["Water"], "director": ["Edward Cahn"], "lake": ["water"]}
    replies = [
        entities(*keywords.get(document.id, [])) for document in sorted(world_documents(), key=lambda each: each.id)
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
