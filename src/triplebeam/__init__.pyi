from triplebeam.answer import Answer as Answer
from triplebeam.answer import Evidence as Evidence
from triplebeam.answer import Step as Step
from triplebeam.assemble.index import Index as Index
from triplebeam.assemble.index import open_index
from triplebeam.errors import TriplebeamError as TriplebeamError
from triplebeam.explain.search_results import SearchResult as SearchResult
from triplebeam.explain.search_results import SearchResults as SearchResults
from triplebeam.passage import Document as Document
from triplebeam.passage import Passage as Passage
from triplebeam.settings import Settings as Settings
from triplebeam.triple import Triple as Triple

open = open_index  # noqa: A001
__version__: str
