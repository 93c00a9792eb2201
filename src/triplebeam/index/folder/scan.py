"""Passes over all vectors of a large index, shared between processors.

A pass goes over parts that do not depend on how many threads there are, and what it computes of a row depends on that
row alone. So its result is the same bit for bit with any number of threads, and for one vector or for several.
"""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.rows import compute_norms, dequantize, scale_to_integers
from triplebeam.system.work import processors

Part = TypeVar("Part")
Result = TypeVar("Result")

#: Rows that are turned into codes at a time, and rows of a part of the codes, which one thread scans. Each part has a
#: price: in parts of 50,000 one thread takes a quarter longer, and of 100,000 a tenth.
_BLOCK_ROWS, _PART_ROWS = 50_000, 250_000
_DIMENSIONS_PER_CODE, _BITS_PER_CODE = 4, 4
_TRAINING_ROWS = 20_000
#: Rows that are read at a time, and rows that are multiplied.
_READ_ROWS, _MULTIPLIED_ROWS = 1024, 8192
#: A vector is multiplied in two parts, the first worth 127 times the second. Two products of a number up to 64 with a
#: byte fit into 16 bits, where processors without instructions for single bytes add them.
_HIGH, _LARGEST = 127.0, 127 * 64


def map_in_parallel(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """Run the work on each part, with as many threads as there are processors. The work must not call this function: it
    would wait for its own thread.
    """
    threads = processors()
    try:
        results = _pool(threads).map(work, parts) if min(threads, len(parts)) > 1 else map(work, parts)
    except RuntimeError:  # Python is about to end, and starts nothing in a pool any more
        results = map(work, parts)
    return list(results)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return a pool whose threads have a processor each, and start no others."""
    import faiss

    return ThreadPoolExecutor(threads, "scan", initializer=faiss.omp_set_num_threads, initargs=(1,))


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of the threads


def make_codes(stored: NDArray[np.integer]) -> Iterator[memoryview]:
    """Make codes of 4 bits for 4 dimensions (product quantization): faiss's indexes of the parts, in their order.

    By their Euclidean distance: it corrects what a code has lost of the length of a vector, and finds more of what is
    nearest than the inner product.
    """
    import faiss

    dimensions = stored.shape[1]
    codes = dimensions // math.gcd(dimensions, _DIMENSIONS_PER_CODE)
    trained = faiss.IndexPQFastScan(dimensions, codes, _BITS_PER_CODE, faiss.METRIC_L2)
    sample = dequantize(stored[:: max(1, len(stored) // _TRAINING_ROWS)])
    trained.train(sample)
    # The code that is, on average, furthest from all rows: zeros would be nearer to a vector than most rows are.
    of_codes = faiss.vector_to_array(trained.pq.centroids).reshape(codes, -1, dimensions // codes)
    furthest = np.square(of_codes - sample.mean(axis=0).reshape(codes, 1, -1)).sum(axis=2).argmax(axis=1)
    far = of_codes[np.arange(codes), furthest].ravel()
    for first in range(0, len(stored), _PART_ROWS):
        part = faiss.clone_index(trained)
        for start in range(first, min(first + _PART_ROWS, len(stored)), _BLOCK_ROWS):
            rows = dequantize(stored[start : min(start + _BLOCK_ROWS, first + _PART_ROWS)])
            rows[~rows.any(axis=1)] = far
            part.add(rows)
        yield faiss.serialize_index(part).data


class Codes:
    """Short codes of all rows, in memory: which rows are worth a look."""

    def __init__(self, file: NDArray[np.uint8], shape: tuple[int, ...]) -> None:
        """Raise RuntimeError if the file has codes of another shape."""
        import faiss

        read = _reader(file)
        reader = faiss.PyCallbackIOReader(read)  # type: ignore[attr-defined]
        self._parts: list[tuple[int, Any]] = []
        while (rows := sum(part.ntotal for _, part in self._parts)) < shape[0]:
            self._parts.append((rows, faiss.read_index(reader)))
        if rows > shape[0] or any(part.d != shape[1] for _, part in self._parts) or read(1):
            raise RuntimeError("the codes belong to other rows")

    def nearest(self, vectors: NDArray[np.float32], count: int) -> list[NDArray[np.int64]]:
        """Find the rows that are probably nearest to each vector, in ascending order, with one scan for all."""

        def scan(numbered: tuple[int, Any]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
            first, part = numbered
            distances, rows = part.search(vectors, min(count, part.ntotal))
            return distances, np.where(rows < 0, -1, rows + first)

        distances, rows = (
            np.concatenate(found, axis=1) for found in zip(*map_in_parallel(scan, self._parts), strict=True)
        )
        best = np.take_along_axis(rows, np.argsort(distances, axis=1, kind="stable")[:, :count], axis=1)
        return [np.sort(each[each >= 0]) for each in best]


def _reader(file: NDArray[np.uint8]) -> Callable[[int], bytes]:
    """Return a function that reads the next bytes of a mapped file."""
    unread = file.data

    def read(size: int) -> bytes:
        nonlocal unread
        part, unread = unread[:size], unread[size:]
        return part.tobytes()

    return read


class Int8Scan:
    """The high byte of every stored number, in memory, and the lengths of the rows."""

    def __init__(self, stored: NDArray[np.integer]) -> None:
        self._shift = 8 * (stored.itemsize - 1)
        self._rows = np.empty(stored.shape, np.uint8)
        self._lengths = np.empty(len(stored), np.float32)

        def read(part: slice) -> None:
            block = stored[part]
            found = compute_norms(block.astype(np.float32))
            self._lengths[part] = np.where(found > 1, found, np.inf)  # a row of zeros is like nothing
            # The lowest number becomes 0.
            np.bitwise_xor((block >> self._shift).astype(np.uint8), 0x80, out=self._rows[part])

        map_in_parallel(read, _slices(len(stored), _READ_ROWS))

    def cosines(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Compute for each vector a row of its products with the unit vectors, in the precision of their high bytes."""
        numbers, factors = scale_to_integers(vectors, _LARGEST)
        high = np.rint(numbers / _HIGH)
        both = np.concatenate([high, numbers - _HIGH * high]).T.astype(np.int8, order="C")
        # A stored number lies in the middle of those that have its high byte.
        zero = (128 - 0.5 * (self._shift > 0)) * numbers.sum(axis=1, dtype=np.float64)
        factors = (2**self._shift / factors[:, 0]).astype(np.float64)
        found = np.empty((len(vectors), len(self._rows)), np.float32)
        multiply = _integer_product()

        def compare(part: slice) -> None:
            high, low = np.split(multiply(self._rows[part], both), 2, axis=1)
            found[:, part] = ((_HIGH * high + low - zero) * factors).T / self._lengths[part]

        map_in_parallel(compare, _slices(len(self._rows), _MULTIPLIED_ROWS))
        return found


def _slices(rows: int, at_a_time: int) -> list[slice]:
    return [slice(start, start + at_a_time) for start in range(0, rows, at_a_time)]


@cache
def _integer_product() -> Callable[[NDArray[np.uint8], NDArray[np.int8]], NDArray[np.int32]]:
    """Multiply bytes exactly, in a third of the time that numpy takes to widen them and to multiply."""
    import onnxruntime
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["rows", "vectors"], ["products"])],
        "product",
        [
            helper.make_tensor_value_info("rows", TensorProto.UINT8, ["n", "d"]),
            helper.make_tensor_value_info("vectors", TensorProto.INT8, ["d", "m"]),
        ],
        [helper.make_tensor_value_info("products", TensorProto.INT32, ["n", "m"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session: Any = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda rows, vectors: session.run(None, {"rows": rows, "vectors": vectors})[0]
