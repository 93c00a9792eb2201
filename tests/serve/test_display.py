from triplebeam.serve.cli.display import snippet


def test_a_short_text_is_shown_whole_on_one_line() -> None:
    assert snippet("one\n\ntwo  three") == "one two three"


def test_a_long_text_is_cut_between_words() -> None:
    assert snippet("river " * 100, 20) == "river river river …"


def test_a_long_text_without_spaces_is_cut_all_the_same() -> None:
    assert snippet("河" * 500, 20) == "河" * 18 + " …"
