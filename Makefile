# The commands of daily work. `make serve` and `make test` set up everything they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HELPERS := $(shell find src -name '*.c')
HEADERS := $(shell find src -name '*.h')
# The heart of it, without what takes servers and seconds: of the wire, what is sent and read.
FAST := tests/auth tests/chain tests/core tests/jobs tests/storage tests/tidy \
    $(patsubst %,tests/wire/test_%.py,cbor framing headers http identity limits logs protocol query_form services)
# What the isolation of PostgreSQL makes a difference to: the API's writes, and what they leave behind.
WRITES := $(patsubst %,tests/api/test_%.py,batch_execute_statement batch_write_item delete_item execute_statement_writes \
    execute_transaction item_expiry multi_attribute_keys prepared_update put_item secondary_indexes table_sizes \
    transact_get_items transact_write_items update_item update_table_indexes update_time_to_live)
# Many tests wait, for servers that start and for faults that pass, so there are more of them at once than processors
# (two). Each process gets a stretch of neighbouring tests, which share servers, and takes over from others in the end.
AT_ONCE := -n 4 --dist worksteal

# Python keeps what it has compiled, also where the environment says otherwise: pytest rewrites every test module, which
# takes five seconds of processor time in each of its processes if it cannot keep the outcome.
export PYTHONDONTWRITEBYTECODE :=
# A registry that does not answer at once is asked again.
export PIP_RETRIES := 10
export PIP_TIMEOUT := 60

.PHONY: serve test check fast lint fmt types clean clients fuzz differential mutants bytecode pages pythons thorough

serve: $(VENV)/runtime bytecode
	$(BIN)/hashrange serve

test: $(VENV)/ready bytecode
	.ci/pytest $(AT_ONCE)
	.ci/pytest -n 3 --dist worksteal --engine postgres tests/api
	.ci/pytest -n 3 --dist worksteal --engine postgres-serializable $(WRITES)

# The same with more rounds of kills, faults and examples: some half an hour.
thorough: export HASHRANGE_THOROUGH := 1
thorough: test

# Smoke tests on the other supported Pythons, as far as they are on this machine.
pythons: $(VENV)/ready
	.ci/pythons

# Spoilt requests; `make fuzz REQUESTS=1000000 SEED=7` for more of them, or others.
fuzz: $(VENV)/ready
	HASHRANGE_FUZZ_REQUESTS=$(or $(REQUESTS),200000) HASHRANGE_FUZZ_SEED=$(or $(SEED),20120810) $(BIN)/pytest tests/fuzz

# The same requests to Hashrange and to DynamoDB Local, or to PEER=dynoxide, dynalite, moto, ministack.
differential: $(VENV)/ready
	PYTHONPATH=tests:bench $(BIN)/python -m differential.run --requests $(or $(REQUESTS),20000) --seed $(or $(SEED),1) \
	    --peer $(or $(PEER),dynamodb-local)

# Tours of every client, with those that have to be compiled first (Go, Java, Rust), which takes minutes once.
clients: $(VENV)/ready
	HASHRANGE_TEST_CLIENTS=build $(BIN)/pytest tests/clients tests/testing/test_examples.py

# Encryption of whole pages, with the build of APSW that has it beside the usual one.
pages: $(VENV)/ready
	test -d $(VENV)/sqlite3mc || $(BIN)/python -m pip install --quiet --target $(VENV)/sqlite3mc apsw-sqlite3mc
	HASHRANGE_SQLITE3MC=$(CURDIR)/$(VENV)/sqlite3mc $(BIN)/pytest tests/kms/test_page_encryption.py

# Small faults in the core, which the tests should notice; `make mutants SAMPLE=1000 SEED=7 ONLY=numbers` for others.
mutants: $(VENV)/ready
	PYTHONPATH=tests $(BIN)/python -m mutants --sample $(or $(SAMPLE),300) --seed $(or $(SEED),1) --only "$(ONLY)"

# All three at once: the tests leave the processors idle here and there.
check: $(VENV)/ready
	@$(MAKE) --no-print-directory --jobs 3 lint types fast

fast: $(VENV)/ready
	.ci/pytest -q -n 2 --dist worksteal -m "not slow" --hypothesis-profile quick $(FAST)

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/ready
	$(BIN)/mypy

fmt: $(VENV)/ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# For example: make bench ARGS="--quick"; docs/benchmarks.md has more.
.PHONY: bench
bench: $(VENV)/ready bytecode
	$(BIN)/python bench/compare.py $(ARGS)

# The same in 25 minutes, and the results into README and docs: for a machine that does nothing else.
.PHONY: bench-publish
bench-publish: $(VENV)/ready bytecode
	$(BIN)/python bench/compare.py --publish --without moto --without ministack --seconds 2 --warmup-class-seconds 20 \
	    --large-items 100000 --run-seconds 120 $(ARGS)

# What each switch costs (capacity, streams, recovery, signatures, policies, encryption, TLS, audit): docs/benchmarks-switches.md.
.PHONY: bench-switches
bench-switches: $(VENV)/ready bytecode
	$(BIN)/python bench/switches.py --pin $(ARGS)

# Instructions per request of eleven hot paths against bench/instructions.json, with valgrind: some two minutes.
.PHONY: instructions
instructions: $(VENV)/ready bytecode
	$(BIN)/python bench/instructions.py $(ARGS)

clean:
	rm -rf $(VENV) .venv-3.* build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -f $(HELPERS:.c=.*.so)
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Where Python is told not to write bytecode, every start would compile everything anew: half of its time.
bytecode: $(VENV)/runtime
	@$(BIN)/python -m compileall -q src/hashrange

$(VENV)/runtime: pyproject.toml constraints.txt hatch_build.py $(HELPERS) $(HEADERS)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/ready: $(VENV)/runtime bench/pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' -e bench
	touch $@
