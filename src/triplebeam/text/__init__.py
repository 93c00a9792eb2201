"""Words, sentences, normal forms and languages: one definition each."""
