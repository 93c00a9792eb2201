"""The bridge reader: a small model that reads each candidate beside the passage that leads to it."""
