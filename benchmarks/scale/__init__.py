"""What `benchmarks/scale_trial.py` measures, and the corpora and vectors it measures with."""
