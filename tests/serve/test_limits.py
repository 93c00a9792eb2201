"""How much work one request may mean: there are few threads for searches, and each ends at its next step at best."""

import pytest

from tables import read_table
from triplebeam.assemble.table import ask_methods, search_methods
from triplebeam.errors import BadInputError
from triplebeam.serve.limits import UNLIMITED, Limits

TOO_MUCH = read_table(__file__, "TOO_MUCH")


@pytest.mark.parametrize("method", TOO_MUCH)
def test_too_much_work_is_refused_in_a_sentence(method: str) -> None:
    with pytest.raises(BadInputError, match=TOO_MUCH[method]):
        Limits().check("Who?", method)


@pytest.mark.parametrize("method", [*search_methods(), *ask_methods()])
def test_every_method_is_within_the_limits_by_default(method: str) -> None:
    Limits().check("Who?", method)


def test_what_the_papers_vary_is_within_them() -> None:
    for method in ("hybrid+naive_ge[scorer=exact,diversity=inf]", "hybrid+naive_ge[width=20,length=4]"):
        Limits().check("Who?", method)


def test_a_model_over_stdio_may_ask_at_length_but_not_for_endless_work() -> None:
    UNLIMITED.check("Who?" * 10_000, "hipporag2[damping=0.9]")
    with pytest.raises(BadInputError, match=r"at most 0\.99"):
        UNLIMITED.check("Who?", "hipporag2[damping=0.999999]")
