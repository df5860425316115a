"""One provider API a file; each offers `CODEC`, and its file name is its id."""
