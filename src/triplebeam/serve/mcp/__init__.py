"""The indexes as tools of the Model Context Protocol."""

from triplebeam.serve.mcp.server import make_server

__all__ = ["make_server"]
