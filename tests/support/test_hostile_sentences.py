"""Sentences that hold the words of a fact and do not state it, of ten kinds; and sentences near them that do."""

import pytest

from tables import read_table
from triplebeam.passage import Passage
from triplebeam.support import locate_fact
from triplebeam.support.claim import split_statement
from triplebeam.triple import Triple

pytestmark = pytest.mark.slow

BORN = Triple("Ilse Brandt", "was born in", "Tromsø")
WON = Triple("Ilse Brandt", "won", "the Kestrel Prize")
OWNS = Triple("Ilse Brandt", "owns", "the Lantern Mill")
FACTS = {"born": BORN, "won": WON, "owns": OWNS}


def write_passage(sentence: str) -> Passage:
    return Passage("p", f"The valley lies in the north. {sentence}", "Ilse Brandt")


@pytest.mark.parametrize(("kind", "fact", "sentence"), read_table(__file__, "HOSTILE"))
def test_a_sentence_that_does_not_assert_a_fact_is_no_support(kind: str, fact: str, sentence: str) -> None:
    triple, passage = FACTS[fact], write_passage(sentence)
    assert locate_fact(triple, sentence, passage, f"{triple}.") is None, kind
    assert locate_fact(triple, sentence, passage) is None, kind


@pytest.mark.parametrize(
    ("triple", "sentence"),
    [
        (BORN, "Ilse Brandt was born in Tromsø and never left the north."),
        (WON, "Ilse Brandt won the Kestrel Prize in 1931."),
        (OWNS, "Since 1920 Ilse Brandt owns the Lantern Mill near the harbour."),
    ],
)
def test_a_sentence_that_asserts_it_is(triple: Triple, sentence: str) -> None:
    assert locate_fact(triple, sentence, write_passage(sentence), f"{triple}.")


CHAT = Passage(
    "chat",
    "Mira: I finally went to the pottery class yesterday! Did you like the concert?\n"
    "TomHale: I loved it. Shall we meet at the harbour on Friday?\n"
    "Mira: Sure. The brakes of my bike are broken again, so I'll walk.",
    "Chat of 2024-05-03",
)
MANUAL = Passage(
    "manual",
    "max_delay\n\nThe longest pause between two tries. This parameter can only be set at start. Defaults to 30s.\n\n"
    "min_delay\n\nThe shortest pause.\n\nThe modes are:\n- fast\n- careful, which checks\n  every block twice\n\n"
    "| Name | Unit |\n| --- | --- |\n| burst | requests |\n",
    "limits(5)",
    section="OPTIONS",
)
NEWS = Passage(
    "news",
    "Was Ilse Brandt at the fair? She was not there. The deal between Holm and Brandt pays Brandt millions a year. "
    "You might have to ask her.",
    "Prizes of the year",
    metadata={"source": "The Harbour Post", "published_at": "2024-05-03"},
)
SETTINGS = Passage(
    "settings",
    "errorlog\n\nThe file to write to.\n\nChanged in 19.2: Log to stderr by default.\n\n"
    "How can I switch it off?\n\nPass --quiet or set QUIET=1.\n\n"
    "[listener:watch]\ncommand=watch -a 200MB\nevents=TICK_60\n\n[listener:late]\nevents=STATE\n\n"
    "If no path is given, the file is looked for in the following places, in this order. The first is used.\n\n"
    "1. `/etc/a.conf`\n\n2. `/opt/b.conf`\n",
    "Settings",
)
GAME = Passage(
    "game",
    "Mira: Sekiro is amazing! It's got a unique combat system.\n"
    "TomHale: Sorry, but I have a work meeting tomorrow. Can we move our game night to Friday?\n",
    "Chat of 2024-05-03",
)
TALK = Passage("talk", "Mira: Ann met Tom yesterday. He won the race.\nTom: I did not!", "Chat of 2024-05-03")
LISTS = Passage("lists", "Supported formats are:\n- CSV\n- JSON\n\nFormats that are rejected:\n- XML\n", "conv(1)")
DEFAULTS = Passage("defaults", "graceful_timeout\n\nDefault: 30\n\ntimeout\n\nDefault: 60\n", "Settings")
SONG = Passage(
    "song",
    "The first recording was by Ilse Brandt. She had seen the sheet in the Holm Building in Oslo. She recorded it in "
    "May on the local Fjord label. After she signed to Kestrel, it was sold again.",
    "Northern Song",
)
TRADE = Passage(
    "trade",
    "Lund herself was a director at Fjord, which competes with giants such as Holm Mills. She admits that she may have "
    "erred, but maintains that Holm Mills hides its prices.\n\n"
    "Holm Mills began with a noble cause. The company bought the harbour in 1931. Ann Holm wrote to Per Lund. "
    "She left Oslo in May. The company sold the mill. Holm Mills sold the quay. The owner died in 1950. "
    "Per Lund left the company.",
    "Prices of the north",
)
TABLE = Passage(
    "table", "Niagara episode no. 6 Directed by Per Lund " + "Guest Ann " * 50 + "Air date May 8, 1931 Length"
)
PASSAGES = {each.id: each for each in (CHAT, MANUAL, NEWS, SETTINGS, GAME, TALK, LISTS, DEFAULTS, SONG, TRADE, TABLE)}


@pytest.mark.parametrize(("kind", "passage", "statement", "quotation"), read_table(__file__, "SAID"))
def test_what_is_said_in_other_words_is_found(kind: str, passage: str, statement: str, quotation: str) -> None:
    assert locate_fact(split_statement(statement), quotation, PASSAGES[passage], statement), kind


@pytest.mark.parametrize(("kind", "passage", "statement", "quotation"), read_table(__file__, "UNSAID"))
def test_what_is_nearly_said_is_not_said(kind: str, passage: str | None, statement: str, quotation: str) -> None:
    source = PASSAGES[passage] if passage else write_passage(quotation)
    assert locate_fact(split_statement(statement), quotation, source, statement) is None, kind


ARGUES = Triple("Ilse Brandt", "argues that", "Holm hides the news of Oslo")


@pytest.mark.parametrize(
    ("statement", "triple"),
    [
        ("Ilse Brandt argues that Fjord hides news.", ARGUES._replace(object="Fjord hides the news of Oslo")),
        ("Fjord hides the news of Oslo.", ARGUES),
        ("Fjord reports that Ilse Brandt argues.", ARGUES),
    ],
)
def test_no_name_is_exchanged_for_another(statement: str, triple: Triple) -> None:
    said = "Ilse Brandt argues that Holm hides the news of Oslo."
    passage = Passage("p", f"Fjord is a paper. {said}", "Papers of the north")
    assert locate_fact(triple, said, passage, statement) is None
    assert locate_fact(ARGUES, said, passage, said)
