# `make run` and `make test` set everything up by themselves: Python >= 3.11 and make are enough.
PYTHON ?= python3
BIN := .venv/bin
# One more than two cores: many tests wait for processes that they started.
WORKERS ?= 3
INSTALL := PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check
# Tests start hundreds of processes, which need not compile what others have: bytecode is kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test check kernels full bench site clean

run: .venv/run  ## about a minute: the whole paper at a small size, then a case on its own data
	$(BIN)/bocopt reproduce all --trials 20 --horizon 200
	test -e results/shop || $(BIN)/bocopt init results/shop
	$(BIN)/bocopt backtest results/shop/bocopt.toml

test: .venv/dev  ## everything a submission must pass
	$(MAKE) --no-print-directory -j 3 check kernels
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

check: .venv/dev  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

kernels: kernels-knapsack kernels-others  ## the machine code, compiled once before all workers need it

kernels-%: .venv/dev
	$(BIN)/python tests/compile_kernels.py $*

full: .venv/dev  ## the long versions of the tests, and what they found
	$(MAKE) --no-print-directory -j 2 kernels
	$(BIN)/pytest -m full -n $(WORKERS) --dist worksteal -rP

bench: .venv/dev  ## speed, memory and accuracy: writes benchmarks/results, a quarter of an hour
	for study in kernels table1 paper_stack sizes memory oracle ensemble learner programs pool; do $(BIN)/python benchmarks/$$study.py || exit 1; done

site: .venv/dev  ## the documentation: site/index.html, with warnings as errors, in about a minute
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -j auto -c docs -d .site . site

clean:
	rm -rf .venv .site site results dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src studies tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/run: pyproject.toml studies/pyproject.toml constraints.txt
	test -d .venv || $(PYTHON) -m venv .venv
	$(INSTALL) --editable ".[plot]" --editable ./studies
	touch $@

.venv/dev: pyproject.toml studies/pyproject.toml constraints.txt
	test -d .venv || $(PYTHON) -m venv .venv
	$(INSTALL) --editable ".[dev]" --editable "./studies[cluster,data]"
	touch $@
