"""Which clauses and nouns state a fact, and what they state."""
