"""llama.cpp's own server on a free port of the loopback, until its standard input closes.

    python serve_llama.py MODEL.gguf

It prints its address as soon as it can answer. Its log goes to standard error.
"""

import os
import sys

SLOTS = 2
TOKENS_A_SLOT = 4096
#: Threads wait for each other by spinning: beside other test processes on two cores, two are slower than one.
_THREADS = 1
_MEGABYTES_OF_PROMPTS = 512


def main(weights: str) -> None:
    from xllamacpp import CommonParams, Server

    settings = CommonParams()
    settings.model.path = weights
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_parallel = SLOTS
    settings.n_ctx = SLOTS * TOKENS_A_SLOT
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = _THREADS
    settings.cache_ram_mib = _MEGABYTES_OF_PROMPTS
    settings.warmup = False
    server = Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()  # whoever started it holds the other end, which closes when that process ends, however it ends
    os._exit(0)  # the server's own way out waits for a loop that does not end


if __name__ == "__main__":
    main(sys.argv[1])
