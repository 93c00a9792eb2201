"""Passes over all vectors, against plain products, with any number of threads."""

import multiprocessing
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import faiss
import numpy as np
import pytest
from numpy.typing import NDArray

from triplebeam.index.arrays.array_set import MemoryArrays
from triplebeam.index.arrays.rows import INT8, INT16, dequantize, quantize
from triplebeam.index.folder import scan
from triplebeam.index.folder.scan import Codes, Int8Scan, make_codes, map_in_parallel
from triplebeam.index.folder.vectors import VectorIndex, select_top, write_vectors


@pytest.fixture(params=["1", "5"])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """So many processors, and parts so small that there are several of them."""
    monkeypatch.setattr(scan, "processors", lambda: int(request.param))
    monkeypatch.setattr(scan, "_PART_ROWS", 700)
    monkeypatch.setattr(scan, "_BLOCK_ROWS", 300)
    monkeypatch.setattr(scan, "_READ_ROWS", 64)
    monkeypatch.setattr(scan, "_MULTIPLIED_ROWS", 128)
    return int(request.param)


def unit_vectors(rows: int, dimensions: int = 32, seed: int = 0) -> NDArray[np.float32]:
    data = np.random.default_rng(seed).standard_normal((rows, dimensions)).astype(np.float32)
    return data / np.linalg.norm(data, axis=1, keepdims=True)


def codes_of(stored: NDArray[np.integer]) -> Codes:
    return Codes(np.frombuffer(b"".join(make_codes(stored)), np.uint8), stored.shape)


def test_work_is_shared_in_order_by_as_many_threads_as_there_are_processors(threads: int) -> None:
    together = threading.Barrier(threads)

    def work(part: int) -> tuple[int, str]:
        together.wait(timeout=60)
        return part, threading.current_thread().name

    found = map_in_parallel(work, range(threads))
    assert [part for part, _ in found] == list(range(threads))
    assert len({name for _, name in found}) == threads
    assert map_in_parallel(work, []) == []


def test_an_error_in_a_part_is_raised(threads: int) -> None:
    def work(part: int) -> int:
        return 1 // (part - 3)

    with pytest.raises(ZeroDivisionError):
        map_in_parallel(work, range(10))


@pytest.mark.parametrize("dtype", [INT16, INT8])
@pytest.mark.parametrize("rows", [1, 3, 1000])
def test_high_bytes_are_compared_as_they_are(threads: int, rows: int, dtype: "np.dtype[np.integer]") -> None:
    """The products are those of the numbers in the middle of what has the same high byte."""
    stored, queries = quantize(unit_vectors(rows), dtype), unit_vectors(4, seed=1)
    queries[3] = 0
    numbers = stored.astype(np.float64) if dtype == INT8 else np.floor(stored / 256.0) * 256 + 128
    expected = queries @ (numbers / np.linalg.norm(stored.astype(np.float64), axis=1, keepdims=True)).T
    found = Int8Scan(stored).cosines(queries)
    np.testing.assert_allclose(found, expected, atol=2e-4)
    assert not found[3].any()
    assert np.abs(found - queries @ dequantize(stored).T).max() < (0.01 if dtype == INT16 else 2e-4)


def test_the_largest_numbers_do_not_overflow(threads: int) -> None:
    """All products have the same sign, in more dimensions than 32 bits can add up in one number."""
    stored = np.full((3, 4096), 32767, np.int16)
    stored[1] = -32767
    query = np.full((1, 4096), 1 / 64, np.float32)
    np.testing.assert_allclose(Int8Scan(stored).cosines(query), [[1, -1, 1]], rtol=0.01)


@pytest.mark.parametrize("dtype", [INT16, INT8])
def test_a_row_of_zeros_is_like_nothing(threads: int, dtype: "np.dtype[np.integer]") -> None:
    stored = quantize(unit_vectors(5), dtype)
    stored[2] = 0
    found = Int8Scan(stored).cosines(unit_vectors(2, seed=1))
    assert found[:, 2].tolist() == [0, 0]
    assert found[:, [0, 1, 3, 4]].all()


def test_any_number_of_threads_finds_the_same_bits(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data, queries = unit_vectors(3000), unit_vectors(6, seed=1)
    write_vectors(arrays := MemoryArrays(), "v", quantize(data, INT16), exact_up_to=100)
    index = VectorIndex(arrays, "v")
    found, near = index.cosines(queries), index.nearest_many(queries, 7)
    monkeypatch.setattr(scan, "processors", lambda: 1)
    alone = VectorIndex(arrays, "v")
    for number, query in enumerate(queries):
        np.testing.assert_array_equal(found[number], alone.cosines(query[None])[0])
        for mine, other in zip(near[number], alone.nearest(query, 7), strict=True):
            np.testing.assert_array_equal(mine, other)


def test_codes_are_the_same_with_any_number_of_threads(threads: int) -> None:
    stored = quantize(unit_vectors(3000))
    before, made = faiss.omp_get_max_threads(), []
    try:
        for number in (1, 2):
            faiss.omp_set_num_threads(number)
            made.append(b"".join(make_codes(stored)))
    finally:
        faiss.omp_set_num_threads(before)
    assert made[0] == made[1]


@pytest.mark.parametrize("dimensions", [32, 30, 7])
def test_codes_choose_what_is_near_in_all_parts(threads: int, dimensions: int) -> None:
    stored = quantize(unit_vectors(3000, dimensions))
    rows, queries = dequantize(stored), unit_vectors(20, dimensions, seed=1)
    nearest = codes_of(stored).nearest(queries, 300)
    found = [
        len(np.intersect1d(chosen, select_top(rows @ query, 10)))
        for chosen, query in zip(nearest, queries, strict=True)
    ]
    assert np.mean(found) > 9.5
    assert all((np.diff(chosen) > 0).all() and len(chosen) == 300 for chosen in nearest)


def test_more_than_there_are_is_everything_and_no_query_finds_nothing(threads: int) -> None:
    """The last part has fewer rows than are wanted, too."""
    nearest = codes_of(quantize(unit_vectors(1500))).nearest(unit_vectors(2, seed=1), 2000)
    assert [chosen.tolist() for chosen in nearest] == [list(range(1500))] * 2
    write_vectors(arrays := MemoryArrays(), "v", quantize(unit_vectors(1500)), exact_up_to=100)
    index, none = VectorIndex(arrays, "v"), np.zeros((0, 32), np.float32)
    assert list(index.nearest_many(none, 3)) == []
    assert index.cosines(none).shape == (0, 1500)


@pytest.mark.parametrize(
    ("share", "shape"),
    [
        *((1, (1400, 32)), (1, (1600, 32)), (1, (1500, 31)), (1, (700, 32))),
        *((0, (1500, 32)), (0.5, (1500, 32)), (0.99999, (1500, 32))),
    ],
)
def test_codes_that_do_not_fit_are_an_error(threads: int, share: float, shape: tuple[int, int]) -> None:
    codes = b"".join(make_codes(quantize(unit_vectors(1500))))
    with pytest.raises(RuntimeError):
        Codes(np.frombuffer(codes[: int(share * len(codes))], np.uint8), shape)


@pytest.mark.parametrize("dtype", [INT16, INT8])
def test_zeros_do_not_hide_what_is_near(threads: int, dtype: "np.dtype[np.integer]") -> None:
    """Their Euclidean distance is that of a cosine of 0.5, where the best row has 0.3."""
    data = unit_vectors(3000, 128)
    data[500:1500] = 0
    queries = 0.3 * data[2000:2020] + unit_vectors(20, 128, seed=1)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    nearest = codes_of(quantize(data, dtype)).nearest(queries, 400)
    assert all(2000 + number in chosen for number, chosen in enumerate(nearest))
    assert not np.isin(np.arange(500, 1500), np.concatenate(nearest)).any()


@pytest.mark.parametrize("threads", ["2"], indirect=True)
def test_equal_rows_are_in_order_though_only_some_of_them_are_compared_exactly(threads: int) -> None:
    data = unit_vectors(3000, 384)
    (query,) = unit_vectors(1, 384, seed=1)
    data[:1500] = 0.7 * query + 0.7 * data[2000]
    data[1500] = query
    stored = quantize(data, INT16)
    write_vectors(arrays := MemoryArrays(), "v", stored, exact_up_to=100)
    cosines = VectorIndex(arrays, "v").cosines(query[None])[0]
    assert select_top(cosines, 5).tolist() == select_top(dequantize(stored) @ query, 5).tolist() == [1500, 0, 1, 2, 3]


def test_work_is_done_though_a_pool_takes_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the end of Python."""
    closed = ThreadPoolExecutor(2)
    closed.shutdown()
    monkeypatch.setattr(scan, "processors", lambda: 2)
    monkeypatch.setattr(scan, "_pool", lambda _: closed)
    assert map_in_parallel(abs, [-1, -2, -3]) == [1, 2, 3]


def test_a_library_that_is_missing_for_a_moment_breaks_no_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "processors", lambda: 3)
    scan._pool.cache_clear()
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "faiss", None)
        with pytest.raises(ImportError):
            map_in_parallel(abs, [-1, -2, -3])
    assert map_in_parallel(abs, [-1, -2, -3]) == [1, 2, 3]


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="a system without fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "processors", lambda: 2)
    assert map_in_parallel(abs, [-1, -2, -3]) == [1, 2, 3]
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(map_in_parallel, (abs, [-1, -2, -3])).get(timeout=60) == [1, 2, 3]
