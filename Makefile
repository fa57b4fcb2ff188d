# Chores. The two commands that set everything up are in README.md.
.PHONY: test quick long linters engines clients bench bench-meaning bench-held-out bench-all bench-record bundle dist constraints pins docs site site-requirements check format

test:
	.venv/bin/python -m pytest

quick: # what needs no process: seconds
	.venv/bin/python -m pytest -m "quick and not long" -n 2

long: linters # what another plain row bears out, or takes minutes, or needs more than pip
	.venv/bin/python -m pytest -m long -n 0

engines: # Dask and Ray, each as a cluster on this machine: installs both; a minute or two
	.venv/bin/pip install -q -e '.[fleet,ray]' && .venv/bin/python -m pytest -m long -n 0 tests/test_fleet_build.py

clients: # clients and suites of others: installs them by npm and pip into $$FLEDGLING_CLIENTS, or ~/.cache/fledgling-clients; takes minutes
	.venv/bin/python tests/clients/run.py

bench: # minutes; fetches projects and peers into ~/.cache/fledgling-bench
	.venv/bin/python benchmarks/bench.py

bench-all: # an hour: big projects and heavy peers too
	.venv/bin/python benchmarks/bench.py --corpora all --heavy --resume

bench-meaning: # a quarter of an hour; questions to code and to documents; clones both into ~/.cache/fledgling-bench
	.venv/bin/python benchmarks/meaning.py

bench-held-out: # four minutes; 254 questions, and 48 about what is not there: no weight is fitted to them, but two bounds are
	.venv/bin/python benchmarks/held_out.py

bench-record: # writes what was measured last into benchmarks/README.md
	.venv/bin/python benchmarks/bench.py --report --record

bundle: # fledgling.mcpb, which desktop clients install
	.venv/bin/python -I broker/setup/bundle.py fledgling.mcpb

dist: # wheel and sdist of the last commit: the same bytes from every clone
	.venv/bin/python .ci/dist.py dist

linters: # mypy and the linters, as pinned
	.venv/bin/pip install -q --no-deps --require-hashes -r .ci/check-requirements.txt

constraints pins: # pins and hashes of all that the tests and the linters need, of every platform, all anew or only what has no pin yet; needs uv
	.venv/bin/python .ci/grammars.py
	uv pip compile --quiet --universal --python-version 3.11 --extra test --generate-hashes $(if $(filter constraints,$@),--upgrade) \
	  --no-annotate --custom-compile-command "make constraints" --output-file constraints.txt pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --group check --generate-hashes $(if $(filter constraints,$@),--upgrade) \
	  --constraint constraints.txt --no-annotate --custom-compile-command "make constraints" --output-file .ci/check-requirements.txt

docs: # writes what documents say of tools, languages, profiles, settings and modules, from the code
	.venv/bin/python tests/documents.py

site: # the documents as pages, every link checked; sets itself up
	python3 -m venv build/site-venv && build/site-venv/bin/pip install -q --require-hashes -r .ci/site-requirements.txt
	build/site-venv/bin/python .ci/site.py build/site

site-requirements: # pins and hashes of what makes them; needs uv
	echo 'mkdocs-material>=9.8,<10' | uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
	  --no-annotate --custom-compile-command "make site-requirements" --output-file .ci/site-requirements.txt -

check: linters
	.venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/mypy && .venv/bin/mypy benchmarks && .venv/bin/lint-imports && .venv/bin/codespell

format: linters
	.venv/bin/ruff check --fix . && .venv/bin/ruff format .
