"""What the parser of a binary format lets through from the depths of a damaged file, beside its own errors.

Such a parser trusts the structure of the file, and a wrong byte surfaces as whatever stumbled over it first. The list
was drawn up by reading files with random bytes changed. ``OSError`` and ``MemoryError`` are the machine's, not the
file's.
"""

import struct
import zlib

DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    RuntimeError,  # also RecursionError, NotImplementedError
    SyntaxError,  # lxml's XMLSyntaxError is one
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
