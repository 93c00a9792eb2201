"""For those who extend Triplebeam: contracts to hold a class of your own against, and a toy corpus to try it on.

    from triplebeam.testing.contracts import RetrieverContract

    class TestMyRetriever(RetrieverContract):
        @pytest.fixture
        def retriever(self):
            return MyRetriever(...)

Nothing here imports pytest: the contracts are plain classes whose ``test_`` methods take fixtures by name.
"""
