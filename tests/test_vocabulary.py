"""Rankings and entity names: what holds whatever goes in; and the words that functions are named by."""

import ast
import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplebeam.ranking import Hit, Ranking
from triplebeam.triple import Triple

scores = st.floats(allow_nan=False) | st.sampled_from([0.0, 0.5, 1.0])
hits = st.dictionaries(st.text(max_size=3), scores, max_size=12).map(lambda d: [Hit(id_, s) for id_, s in d.items()])


@given(hits)
def test_of_puts_hits_into_the_one_order(given_hits: list[Hit]) -> None:
    ranking = Ranking.of(given_hits)
    assert sorted(ranking, key=lambda hit: (-hit.score, hit.passage_id)) == list(ranking)
    assert sorted(ranking) == sorted(given_hits)
    assert Ranking(ranking) == ranking == Ranking.of(reversed(given_hits))
    assert hash(Ranking(ranking)) == hash(ranking)


@given(hits, st.integers(0, 14), st.integers(0, 14))
def test_a_slice_is_a_ranking_and_an_item_a_hit(given_hits: list[Hit], start: int, stop: int) -> None:
    ranking = Ranking.of(given_hits)
    assert isinstance(ranking[start:stop], Ranking)
    assert ranking[start:stop].ids == ranking.ids[start:stop]
    assert ranking.top(stop) == ranking[:stop]
    if start < len(ranking):
        assert ranking[start] is list(ranking)[start]
    else:
        with pytest.raises(IndexError):
            ranking[start]


@given(hits)
def test_any_other_order_is_refused(given_hits: list[Hit]) -> None:
    backwards = list(Ranking.of(given_hits))[::-1]
    if len(backwards) > 1:
        with pytest.raises(ValueError, match="falling order"):
            Ranking(backwards)


@pytest.mark.parametrize("make", [Ranking, Ranking.of])
def test_nan_and_doubles_are_refused(make: type[Ranking]) -> None:
    with pytest.raises(ValueError, match="not a number"):
        make([Hit("a", math.nan)])
    with pytest.raises(ValueError, match="twice"):
        make([Hit("a", 2.0), Hit("b", 1.5), Hit("a", 1.0)])


def test_equal_scores_go_by_id_and_nothing_else() -> None:
    chain = ((Triple("a", "b", "c"),),)
    assert Ranking.from_scores({"b": 1.0, "c": 2.0, "a": 1.0}).ids == ["c", "a", "b"]
    assert Ranking.of([Hit("b", 1.0), Hit("a", 1.0, chain)]).ids == ["a", "b"]
    assert Ranking([Hit("a", 1.0)]) != Ranking([Hit("a", 1.0, chain)])


#: Words that end like a participle and are verbs or nouns of the field.
NO_PARTICIPLES = re.compile("embed|feed|need|seed|encoding|heading|mapping|ranking|reading|string|thing")
IRREGULAR = re.compile(
    "begun|bound|broken|brought|built|chosen|done|drawn|driven|found|given|gone|grown|held|hidden|kept|known|laid|led"
    "|lost|made|meant|met|paid|said|seen|sent|shown|spent|taken|told|understood|written"
)


#: A bound is MAX_ or MIN_ and what it counts, not an adjective.
BOUND = re.compile("_?(LONGEST|FEWEST|LEAST|MOST|LARGEST|SMALLEST|DEEPEST|FEW|MANY|ENOUGH|KEPT|SHOWN)(_[A-Z_]+)?")


def is_participle(word: str) -> bool:
    ends_like_one = word.endswith(("ed", "ing")) and "_" not in word
    return bool(IRREGULAR.fullmatch(word)) or (ends_like_one and not NO_PARTICIPLES.fullmatch(word))


@cache
def parse_modules() -> list[tuple[str, ast.Module]]:
    """Return the name and the syntax tree of every module of both packages."""
    root = Path(__file__).parents[1]
    paths = [*root.glob("src/triplebeam/**/*.py"), *root.glob("research/src/triplebeam_research/**/*.py")]
    return [(str(path.relative_to(root)), ast.parse(path.read_text(encoding="utf-8"))) for path in sorted(paths)]


def list_participles() -> Iterator[tuple[str, str]]:
    """Yield the module and the name of every function, but no property, that is named by a lone participle."""
    for module, tree in parse_modules():
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            is_property = any("property" in ast.unparse(each) for each in node.decorator_list)
            if is_participle(node.name.strip("_")) and not is_property:
                yield module, node.name


def list_bounds() -> Iterator[tuple[str, str]]:
    """Yield the module and the name of every number that is named by an adjective."""
    for module, tree in parse_modules():
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.UnaryOp):
                number = ast.literal_eval(node.value)
                names = [ast.unparse(each) for each in node.targets if BOUND.fullmatch(ast.unparse(each))]
                yield from ((module, name) for name in names if isinstance(number, int | float))


@pytest.mark.parametrize(("word", "expected"), [("stored", True), ("kept", True), ("watching", True), ("embed", False)])
def test_participles_are_recognised(word: str, expected: bool) -> None:
    assert is_participle(word) is expected


def test_no_function_is_named_by_a_lone_participle() -> None:
    assert list(list_participles()) == [], "name a function by an imperative verb and its object, as in load_manifest"


def test_no_number_is_named_by_an_adjective() -> None:
    assert list(list_bounds()) == [], "name a bound by MAX_ or MIN_ and what it counts, as in MAX_PASSAGES"
