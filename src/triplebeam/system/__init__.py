"""SQLite, durable files, cancellation, progress and HTTP: what the package needs of the system below it."""
