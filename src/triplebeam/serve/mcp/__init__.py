"""The collections as tools of the Model Context Protocol."""

from triplebeam.serve.mcp.folders import Folders
from triplebeam.serve.mcp.server import Rules, Shelf, make_server

__all__ = ["Folders", "Rules", "Shelf", "make_server"]
