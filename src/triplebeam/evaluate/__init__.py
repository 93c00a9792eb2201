"""Rankings to numbers."""
