from triplebeam.answer import Agent as Agent
from triplebeam.answer import Answer as Answer
from triplebeam.answer import Evidence as Evidence
from triplebeam.answer import Run as Run
from triplebeam.answer import Step as Step
from triplebeam.assemble.index import Index as Index
from triplebeam.assemble.index import create_index, open_index
from triplebeam.assemble.method import Method as Method
from triplebeam.errors import TriplebeamError as TriplebeamError
from triplebeam.explain.search_results import SearchResult as SearchResult
from triplebeam.explain.search_results import SearchResults as SearchResults
from triplebeam.methods.ge_reasoning import GEReasoning as GEReasoning
from triplebeam.methods.gear import Cascade as Cascade
from triplebeam.methods.gear import Exact as Exact
from triplebeam.methods.gear import GeAR as GeAR
from triplebeam.methods.gear import NaiveGE as NaiveGE
from triplebeam.methods.gear import Pooled as Pooled
from triplebeam.methods.gear import SyncGE as SyncGE
from triplebeam.methods.gnn_ret import GNNRet as GNNRet
from triplebeam.passage import Document as Document
from triplebeam.passage import Passage as Passage
from triplebeam.ranking import Hit as Hit
from triplebeam.ranking import Ranking as Ranking
from triplebeam.retrieve.hybrid import Hybrid as Hybrid
from triplebeam.retrieve.retriever import Retriever as Retriever
from triplebeam.settings import Settings as Settings
from triplebeam.triple import Chain as Chain
from triplebeam.triple import Triple as Triple

create = create_index
open = open_index  # noqa: A001
__version__: str
