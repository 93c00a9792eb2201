"""Experiments: methods compared as a file describes, their runs, and what is written of them."""
