"""Facts that are quotations with additions in brackets: which additions a passage backs."""

import pytest

from triplebeam.passage import Passage
from triplebeam.support import locate_fact
from triplebeam.support.claim import split_statement
from triplebeam.support.locate import Piece, parse_quotation, remove_brackets

PASSAGES = {
    "chat": (
        "Mira: I finally went to the pottery class yesterday! Did you like the concert?\n"
        "TomHale: I loved it. Your bike is still here. I was in Oslo last week.\n"
        "Mira: Sure, I'll bring the cake.\n",
        "Chat of 2024-05-03",
    ),
    "plan": ("Mira: If it rains, Tom sells the bike.\nTom: Do I sell the bike?\nMira: We need that.\n", "Chat"),
    "story": (
        "Ann Holm met Per Lund in 1920. She founded the mill in Oslo. The company grew. It was sold to Fjord in 1931, "
        "which closed it. It is a myth that she lived in Bergen. He did not buy the quay. Kari, who knew Per Lund, "
        "died in Paris. Per Lund's sister left Tromsø. The album of Ann Holm sold well. After the war, Ann Holm moved "
        "to New York City. If asked, she would return.",
        "Ann Holm",
    ),
    "manual": (
        "max_delay\n\nThe longest pause between two tries. This parameter can only be set at start. Defaults to 30s.\n"
        "\n[limits]\nburst = 5\n\n| Name | Unit |\n| --- | --- |\n| burst | requests |\n",
        "limits(5)",
    ),
    "options": (
        "--retries N\n\nHow often it tries again. The default is 3.\n\n--timeout SECONDS\n\nHow long to wait."
        " The default is 30.\n\nSupported formats:\n- CSV files\n- Parquet files\n\nUnsupported formats:\n1. Excel"
        " files\n2. ORC files\n",
        "fetch(1)",
    ),
    "film": (
        "Night Tram was directed by Pavel Hora and written by Jana Malá. Hora sold the rights to Kral. His mother was"
        " Czech, his father Slovak. He lived in Paris from 1970 to 1980 and in Rome until his death. Only two of his"
        " friends came. Unlike Kral, Rose never sang. Kral, who won the Golden Palm, married Rose.",
        "Night Tram",
    ),
    "towns": (
        "| Town | People | Mayor |\n| --- | --- | --- |\n| Gotha | 45000 | Knut Kreuch |\n| Suhl | 36000 | Eva Ott |\n",
        "Towns",
    ),
    "wrapped": (
        "The Elm Mill was never\nused for paper. It closed in 1990. The\nowner sold the wheel to\nDr. Ken Ito and kept"
        " the sluice. It is open if it rains.",
        "Elm Mill",
    ),
    "sources": (
        "The words of [2] are used here. In 1970 Kral met Jana Malá, who wrote the play."
        " It holds salt, tea and rice.\n\nhost = alpha\nport = 8080\n",
        "notes.txt",
    ),
    "settings": ("[server]\nport = 8080\n\n[database]\nport = 5432\nuser = admin\n", "app.ini"),
}


def read(name: str) -> Passage:
    text, title = PASSAGES[name]
    return Passage(name, text, title, section="OPTIONS" if name == "manual" else "")


@pytest.mark.parametrize(
    ("passage", "quotation"),
    [
        ("chat", "[Mira] finally went to the pottery class"),
        ("chat", "[Mira] finally went to the pottery class yesterday [2024-05-02]"),
        ("chat", "[Mira:] I finally went to the pottery class yesterday"),
        ("chat", "[TomHale] loved it"),
        ("chat", "[Tom Hale said:] I loved it"),
        ("chat", "[Mira's] bike is still here"),
        ("chat", "[Tom Hale said on 2024-05-03:] I was in Oslo last week"),
        ("chat", "[Mira will] bring the cake"),
        ("plan", "Do I [Tom] sell the bike?"),
        ("plan", "We need that [Tom's bike]"),
        ("story", "[Ann Holm] founded the mill in Oslo"),
        ("story", "She [Ann Holm] founded the mill in Oslo"),
        ("story", "[The mill] was sold to Fjord in 1931"),
        ("story", "[The mill] was sold … in 1931"),
        ("story", "Ann Holm met Per Lund in 1920. … The company [the mill] grew"),
        ("story", "Ann Holm moved to New York City"),
        ("manual", "[max_delay] The longest pause between two tries"),
        ("manual", "[max_delay] can only be set at start"),
        ("manual", "[limits(5), max_delay:] Defaults to 30s"),
        ("manual", "[limits] burst = 5"),
        ("manual", "[Name] burst [Unit] requests"),
        ("film", "Night Tram was … written by Jana Malá"),
        ("film", "Kral … married Rose"),
        ("film", "Rose never sang"),
        ("wrapped", "The owner sold […] to Dr. Ken Ito"),
        ("wrapped", "[The owner] … kept the sluice"),
        ("towns", "[Town] Gotha [People] 45000 [Mayor] Knut Kreuch"),
        ("towns", "[Towns:] Gotha … Knut Kreuch [Mayor]"),
        ("sources", "The words of [2] are used here"),
        ("sources", "Kral met Jana Malá"),
        ("sources", "It holds salt … rice"),
        ("sources", "[Jana Malá] wrote the play"),
        ("sources", "[notes.txt] port = 8080"),
        ("options", "[--retries] The default is 3"),
        ("options", "[fetch --timeout:] The default is 30"),
        ("options", "--retries N … The default is 3"),
        ("options", "[Unsupported formats:] ORC files"),
        ("options", "Supported formats: … Parquet files"),
        ("settings", "[server] port = 8080"),
        ("settings", "[[database]] user = admin"),
    ],
)
def test_a_passage_backs_what_its_context_says(passage: str, quotation: str) -> None:
    triple = split_statement(remove_brackets(quotation))
    assert locate_fact(triple, "", read(passage), quotation)


@pytest.mark.parametrize(
    ("passage", "quotation"),
    [
        # another speaker, the one who is spoken to, another day
        ("chat", "[Tom Hale] finally went to the pottery class"),
        ("chat", "[Tom Hale's] bike is still here"),
        ("chat", "[Tom Hale] was in Oslo last week [2024-05-03]"),
        ("chat", "[Tom Hale will] bring the cake"),
        ("chat", "Your [Tom Hale's] bike is still here"),
        # a condition as a question
        ("plan", "Tom sells the bike?"),
        # another name for one that is there, or for a pronoun far from it
        ("story", "[Per Lund] met Per Lund in 1920"),
        ("story", "[Kari] founded the mill in Oslo"),
        ("story", "She [the quay] founded the mill in Oslo"),
        ("story", "[Per Lund] died in Paris"),
        ("story", "[Fjord] moved to New York City"),
        ("story", "[Ann Holm] knew Per Lund"),
        # words that the passage does not have, denials, verbs
        ("story", "[Ann Holm] founded the mill in Oslo [Norway]"),
        ("story", "[Ann Holm] [never] founded the mill in Oslo"),
        ("story", "[Ann Holm sold] the mill in Oslo"),
        ("story", "Ann Holm met [sold] Per Lund in 1920"),
        ("story", "Ann Holm [left] Per Lund in 1920"),
        # what is left out, or cut off, changes what is said
        ("story", "[Per Lund] did … buy the quay"),
        ("story", "Per Lund, died in Paris"),
        ("story", "Ann Holm … founded the mill in Oslo … Fjord in 1931"),
        ("story", "Kari … Per Lund, died in Paris"),
        ("story", "Ann Holm sold well"),
        ("story", "Ann Holm moved to New York"),
        ("story", "[Ann Holm] lived in Bergen"),
        ("story", "[Ann Holm] would return"),
        ("film", "Hora sold … Kral"),
        ("film", "His mother was Czech … Slovak"),
        ("film", "He lived in Paris … until his death"),
        ("film", "two of his friends came"),
        ("film", "Kral, Rose never sang"),
        ("film", "[the Golden Palm] married Rose"),
        ("wrapped", "The Elm Mill was … used for paper"),
        ("wrapped", "It closed in 1990 … owner sold the wheel"),
        ("wrapped", "[The mill] is open"),
        ("wrapped", "It [the Elm Mill] is open"),
        # when, where and who of another sentence, another column
        ("film", "[In 1970,] Hora sold the rights to Kral"),
        # another entry, section or list
        ("options", "[--timeout] The default is 3"),
        ("options", "[--retries] How often … The default is 30"),
        ("options", "[Supported formats:] ORC files"),
        ("options", "Supported formats: … Excel files"),
        ("settings", "[server] port = 5432"),
        ("settings", "[database] port = 8080"),
        # a plan, a condition, somebody's words
        ("story", "[Ann Holm would have] founded the mill in Oslo"),
        ("story", "[If asked] She founded the mill in Oslo"),
        ("story", "[Per Lund said:] She founded the mill in Oslo"),
        ("story", "[Kari Lund] founded the mill in Oslo"),
        ("story", "[Ann Holm] burned the mill in Oslo"),
        # too little is copied
        ("story", "[Ann Holm met Per Lund and founded the] mill"),
        ("manual", "[min_delay] Defaults to 30s"),
    ],
)
def test_a_passage_does_not_back_anything_else(passage: str, quotation: str) -> None:
    triple = split_statement(remove_brackets(quotation))
    assert locate_fact(triple, "", read(passage), quotation) is None


def test_a_quotation_is_split_at_brackets_and_ellipses() -> None:
    assert parse_quotation("[Mira] went … home [today]") == [
        Piece("Mira", False, ("went",)),
        Piece("", True, ("home",)),
        Piece("today", False, ()),
    ]


def test_a_day_without_end_has_no_next_day() -> None:
    passage = Passage("p", "Mira: I go tomorrow.\nTom: I know.\n", "Chat of 9999-12-31")
    assert locate_fact(split_statement("Mira go tomorrow"), "", passage, "[Mira] go tomorrow")
