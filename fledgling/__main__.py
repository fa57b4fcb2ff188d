"""`python -I -m fledgling`: the command line."""

from fledgling.broker.cli import main

main()
