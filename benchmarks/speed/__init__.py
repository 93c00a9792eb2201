"""What `benchmarks/query_time.py` measures."""
