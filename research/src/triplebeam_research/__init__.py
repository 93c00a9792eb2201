"""Research on multi-hop retrieval with Triplebeam: datasets, experiments, reports, baselines, training."""
