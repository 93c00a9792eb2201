"""llama.cpp's own server on a free port of the loopback, until its standard input closes.

    python serve_llama.py MODEL.gguf

It prints its address once it can answer. The log goes to standard error.
"""

import sys


def main(weights: str) -> None:
    from xllamacpp import CommonParams, Server

    settings = CommonParams()
    settings.model.path = weights
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_parallel = 2
    settings.n_ctx = 2 * 4096
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 2
    server = Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
