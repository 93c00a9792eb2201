"""What is published, read once: passages, triples and what ties them together."""
