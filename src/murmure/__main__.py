"""`python -m murmure` is the command line."""

from murmure.cli import main

main()
