"""Indexes as retrievers of other libraries, and retrievers of other libraries as a base of ours."""
