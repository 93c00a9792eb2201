"""Multi-hop retrieval over your own documents."""
