"""Why a result was returned: chains, references, snippet, the verdict on an answer, and the graph around it."""
