"""``python -m triplebeam`` is ``triplebeam``."""

from triplebeam.serve.cli import main

if __name__ == "__main__":
    main()
