"""How much work one request may mean: there are few threads for searches, and each ends at its next step at best."""

import pytest

from triplebeam.assemble.table import ask_methods, search_methods
from triplebeam.errors import BadInputError
from triplebeam.serve.limits import UNLIMITED, Limits

TOO_MUCH = {
    "hipporag2[damping=0.9999999999999999]": "damping is 0.9999999999999999 .* at most 0.99",
    "hipporag[entities=verbatim,tolerance=1e-300]": "tolerance is 1e-300 .* at least 1e-08",
    "hipporag2[base=hybrid+naive_ge[width=2000]]": "at most 1,000|brackets",
    "hybrid+naive_ge[width=1_000_000]": "width is 1000000 .* at most 1,000",
    "hybrid+naive_ge[width=+1001]": "width is 1001 .* at most 1,000",
    "hybrid+naive_ge[scorer=exact,width=1000,length=10,neighbours=1000]": "54,000,000 triples to score",
    "hybrid+naive_ge[scorer=exact,width=50]": "10,000 triples to encode: a server accepts at most 2,000",
    "hybrid+naive_ge[width=20,shortlist=500]": "4,000 triples to encode",
    "hybrid+naive_ge[scorer=exact,width=40,length=10,neighbours=10]": "21,600 triples to encode",
    "hybrid+naive_ge[width=100,length=10,neighbours=100,shortlist=4]": "540,000 triples to score",
    "hybrid+naive_ge[width=100,length=10,neighbours=10,shortlist=4]": "21,600 triples to encode",
    "hybrid+naive_ge[scorer=pooled,width=100,length=10,neighbours=100]": "540,000 triples to score",
    "hybrid+naive_ge[width=250]+naive_ge[width=251]": "100,200 triples to score",
    "hybrid+naive_ge[scorer=exact]+naive_ge[width=1]": "2,016 triples to encode",
    "hybrid+sync_ge[scorer=exact,width=11]": "2,200 triples to encode",
    "agent:hybrid+naive_ge[scorer=exact,neighbours=1000]": "20,000 triples to encode",
    "gnn_ret[layers=21]": "at most 20",
    "gnn_ret[relevant=1_001]": "relevant is 1001",
    "self_consistency[paths=1_000]": "paths is 1000 .* at most 100",
    "ge_reasoning[max_rounds=100,samples=100]": "10,000 calls of a model: a server accepts at most 1,000",
    "kgp[max_steps=100,seeds=100]": "30,000 calls of a model",
}


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
