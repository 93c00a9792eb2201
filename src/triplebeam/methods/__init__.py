"""The papers, one folder or file each."""
