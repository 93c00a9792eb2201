"""Published datasets to documents and questions: one reader a format."""

from triplebeam.evaluate.datasets.dataset import Dataset
from triplebeam.evaluate.datasets.formats import FORMATS, read_dataset
from triplebeam.evaluate.datasets.write import Written, refuse_to_overwrite, write_dataset

__all__ = ["FORMATS", "Dataset", "Written", "read_dataset", "refuse_to_overwrite", "write_dataset"]
