from triplebeam.text.phrases import format_count, join_names


def test_counts_and_lists_are_written_as_they_are_said() -> None:
    assert [format_count(number, "question") for number in (0, 1, 2000)] == [
        "0 questions",
        "1 question",
        "2,000 questions",
    ]
    assert [join_names(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
