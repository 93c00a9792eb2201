"""An index whose search structures are on an OpenSearch cluster.

Documents, extracted triples and vectors stay in a local folder, as those of any index do; what is searched is published
to three indices of a cluster, for passages, triples and entities.

| question | here |
| --- | --- |
| Where is the cluster, and who may use it? | `triplebeam.index.location` |
| How are requests sent, and sent again? | `client.py` |
| What becomes which document? | `documents.py` |
| How is a generation published? | `publish.py` |
| How is a published generation opened, and filtered? | `source.py` |
| How are words, vectors and triples searched? | `search.py`, words and vectors together in `hybrid.py` |
| How are passages looked up? | `fetched.py` |
| What do walks and messages run on? | `neighbourhood.py`, of what `fetched.py` keeps |
"""
