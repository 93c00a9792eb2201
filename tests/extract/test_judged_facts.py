"""The shares in docs/local-extractor.md and docs/benchmarks.md are those of the judged facts and chains."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from triplebeam.extract.local import RULES_VERSION

FACTS, CHAINS = (
    [json.loads(line) for line in (Path(__file__).parent / "judged_facts" / name).read_text("utf-8").splitlines()]
    for name in ("facts.jsonl", "chains.jsonl")
)
PAGE, BENCHMARKS = (
    (Path(__file__).parents[2] / "docs" / name).read_text(encoding="utf-8")
    for name in ("local-extractor.md", "benchmarks.md")
)
KINDS = ("technical", "encyclopaedia", "chat", "news")
#: Drawn from other texts than the kinds above.
DRAWN_FOR_7 = ("manuals", "chats", "articles", "Wikipedia")
VERSIONS = sorted({fact["rules"] for fact in FACTS if fact["kind"] in KINDS})


def judged(kind: str, rules: int) -> list[dict[str, str]]:
    return [fact for fact in FACTS if fact["kind"] == kind and fact["rules"] == rules]


def share(facts: list[dict[str, str]], verdict: str, error: str | None = None) -> float:
    return sum(fact["verdict"] == verdict and error in (None, fact["error"]) for fact in facts) / len(facts)


def test_enough_facts_are_judged_of_each_kind() -> None:
    assert VERSIONS == [3, 4, 5]
    assert all(len(judged(kind, rules)) >= 45 for kind in KINDS for rules in VERSIONS)
    assert all((fact["verdict"] == "right") == (not fact["error"]) for fact in FACTS)


@pytest.mark.parametrize(
    ("kind", "rules"),
    [(kind, rules) for kinds, rules in ((KINDS, VERSIONS[-1]), (DRAWN_FOR_7, 7)) for kind in kinds],
)
def test_the_page_gives_the_shares(kind: str, rules: int) -> None:
    facts = judged(kind, rules)
    shares = " | ".join(f"{share(facts, verdict):.0%}" for verdict in ("right", "trivial", "wrong"))
    assert f"| {kind} | {rules} | {len(facts)} | {shares} |" in PAGE


@pytest.mark.parametrize("kind", ["technical", "encyclopaedia", "chat"])
def test_most_facts_are_right_and_no_kind_of_wrong_fact_is_frequent(kind: str) -> None:
    facts = judged(kind, VERSIONS[-1])
    assert share(facts, "right") >= 0.6
    wrong = Counter(fact["error"] for fact in facts if fact["verdict"] == "wrong")
    assert max(wrong.values()) <= 0.05 * len(facts)
    assert share(facts, "right") >= max(share(judged(kind, rules), "right") for rules in VERSIONS[:-1]) - 0.005


def test_the_page_says_what_the_rules_since_then_change() -> None:
    assert f"**Versions 6 to {RULES_VERSION}.**" in PAGE


@pytest.mark.parametrize(
    ("rules", "method"), sorted({(chain["rules"], chain["method"]) for chain in CHAINS if chain["rules"] > 3})
)
def test_the_benchmarks_give_the_judged_chains(rules: int, method: str) -> None:
    verdicts = Counter(chain["verdict"] for chain in CHAINS if (chain["rules"], chain["method"]) == (rules, method))
    assert set(verdicts) <= {"explains", "beside", "noise"}
    counts = " | ".join(str(verdicts[verdict]) for verdict in ("explains", "beside", "noise"))
    name, *about = method.split(", ", 1)
    label = ", ".join([f"`{name}`", *about])
    row = rf"\| {re.escape(label)} \| {rules} \| \d+ \| {re.escape(counts)} \|"
    assert re.search(row, BENCHMARKS), counts
