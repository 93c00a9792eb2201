"""From documents to a published index."""
