"""The command line. In: words typed by a person. Out: the library's answers, printed."""
