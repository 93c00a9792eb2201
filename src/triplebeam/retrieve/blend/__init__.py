"""The default search: plain search and graphs, weighted by what the index has."""
