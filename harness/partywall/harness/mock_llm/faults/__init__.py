"""One fault a file; each offers `FAULT`, and its file name is its id with `.` and `-` as `_`."""
