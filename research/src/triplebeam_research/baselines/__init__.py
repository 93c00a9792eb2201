"""Agents that GeAR, GNN-Ret and GE-Reasoning compare with: one paper or one row of their tables per file."""
