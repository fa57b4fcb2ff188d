# Chores. The two commands that set everything up are in README.md.
.PHONY: test long check format

test:
	.venv/bin/python -m pytest

long: # needs npm; takes minutes
	.venv/bin/python -m pytest -m long

check:
	.venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/mypy && .venv/bin/lint-imports

format:
	.venv/bin/ruff check --fix . && .venv/bin/ruff format .
