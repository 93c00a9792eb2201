"""How long a test waits for what a slow or busy machine does late; each wait ends as soon as that is done."""

SECONDS = 60
