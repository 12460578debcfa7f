"""The tasks: a folder for each notebook, a file for each task. See exercises/README.md."""
