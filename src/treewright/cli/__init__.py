"""The command line. In: the words of a command. Out: the library's results, printed."""
