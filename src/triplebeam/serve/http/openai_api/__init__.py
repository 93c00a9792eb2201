"""Triplebeam for clients of OpenAI's interface: each index with a method is a model to chat with."""
