# Every target makes what it needs in .venv, inside the tree; nothing is installed outside.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
RUST_SOURCES := $(shell find rust -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
RUST_VERSION := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
PYTEST := $(BIN)/python -m pytest

.DEFAULT_GOAL := help
.PHONY: help demo build test test-rust test-python test-slow judge audit mutations fuzz cross cross-test python-test free-test instructions unsafe reproducible msrv lint format stubs bench gallery docs wheels lock bounds clean crate crate-names supply advisories

help: ## Print this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

demo: build ## Release a private histogram of a small bundled data set
	$(BIN)/python -m simplexdp.demo

build: $(STAMP)-build ## Build the extension into the virtual environment

test: lint stubs test-rust test-python ## Run everything that must hold before a change lands

test-rust:
	cargo test --locked --workspace --exclude simplexdp-py
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps -p simplexdp-core

test-python: build $(STAMP)-env
	$(PYTEST)

test-slow: build $(STAMP)-env ## Run the long statistical and soak tests in full
	$(PYTEST) --full -o faulthandler_timeout=0

judge: build $(STAMP)-env ## Judge 100,000 random compositions in ball arithmetic; writes docs/judge.md
	$(BIN)/python tests/judge/long_run.py --compositions 100000 --write docs/judge.md

audit: build $(STAMP)-env ## Audit every mechanism and model from its outputs; writes docs/audit.md
	$(BIN)/python docs/generate/audit.py

mutations: $(STAMP)-env ## Make every listed fault and see that a test notices it; writes docs/mutations.md
	$(BIN)/python tests/mutations/run.py --write docs/mutations.md

fuzz: build $(STAMP)-env ## Fuzz every reader for ten minutes each, or SECONDS=60 of processor time ROUNDS=3 times; writes docs/fuzzing.md
	$(BIN)/python tests/fuzz/run.py --seconds $(or $(SECONDS),600) --rounds $(or $(ROUNDS),1) --write docs/fuzzing.md

lint: $(STAMP)-env $(STAMP)-build ## Check format, lints and types of both languages
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@# The NumPy that is the last for Python 3.10 has no types for what is checked here.
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then $(BIN)/mypy; \
	else echo 'types are checked from Python 3.11 on'; fi

stubs: build $(STAMP)-env ## Check that _core.pyi matches the compiled module
	$(BIN)/python -m mypy.stubtest simplexdp._core

format: $(STAMP)-env ## Format both languages
	cargo fmt --all
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: build $(STAMP)-bench $(STAMP)-diffprivlib ## Run the benchmarks; prints ratios against peers
	$(BIN)/python -m benches.python

gallery: build $(STAMP)-bench $(STAMP)-diffprivlib ## Write docs/gallery and docs/performance.md again; GALLERY="--fast" or "--data DIR"
	$(BIN)/python docs/generate/gallery.py $(GALLERY)
	-$(BIN)/python -m benches.python --json target/bench.json $(filter --fast,$(GALLERY))
	$(BIN)/python docs/generate/performance.py target/bench.json

docs: build $(STAMP)-docs ## Build the documentation site into site/, warnings as errors; check its links, overflow and contrast
	$(BIN)/python docs/generate/try_page.py
	$(BIN)/codespell *.md *.toml mkdocs.yml Makefile .ci benches docs python rust tests --skip '*.gz,*.so,*.csv,*.svg,*.png' \
		--ignore-words-list fpr,fro,infarction  # false positive rate; to and fro; a diagnosis
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python docs/generate/links.py site
	$(BIN)/python docs/generate/emphasis.py site
	$(BIN)/python docs/generate/inventory.py site
	$(BIN)/python docs/generate/looks.py site

wheels: $(STAMP)-wheels ## Build a manylinux wheel and the source archive into dist/, and check their tags
	PATH="$(CURDIR)/$(BIN):$$PATH" bash .ci/wheels

cross: $(STAMP)-wheels ## Build the wheel of another platform on Debian: TARGET=aarch64-unknown-linux-gnu
	bash packaging/cross/build.sh $(TARGET) target/cross

cross-test: $(STAMP)-wheels ## Run unit tests with the wheel of `make cross`: PLATFORM=aarch64, musl-x86_64, musl-aarch64 or windows, TESTS="tests/unit/..."
	bash packaging/cross/try.sh $(PLATFORM) target/cross $(TESTS)

python-test: $(STAMP)-wheels ## Run the unit tests of dist/'s wheel on a Python of Debian testing, as root: VERSION=3.14, TESTS="tests/unit/..."
	bash packaging/pythons/try.sh $(VERSION) target/pythons $(TESTS)

free-test: $(STAMP)-wheels ## Build CPython without its lock and the wheel for it, run tests: VERSION=3.14, TESTS="tests/unit/..."
	bash packaging/pythons/free.sh $(or $(VERSION),3.14) target/pythons $(TESTS)

crate: ## Compare the public names of the core with their list, pack it and build what is packed; test it without threads, run its example
	$(PYTHON) packaging/crate/public_names.py
	cargo package --locked -p simplexdp-core
	cargo test --locked -p simplexdp-core --no-default-features
	cargo run --locked --quiet -p simplexdp-core --example release

crate-names: ## Write the list of the crate's public names; refused where one goes that the changelog does not name
	$(PYTHON) packaging/crate/public_names.py --write

supply: $(STAMP)-supply ## Look at licences, sources and workflows without a network; with NETWORK=1 at known vulnerabilities too
	cargo deny --locked check bans licenses sources $(if $(NETWORK),advisories)
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/zizmor --offline .github/workflows
	$(if $(NETWORK),$(foreach list,build dev wheels docs bench supply,$(BIN)/pip-audit --disable-pip --require-hashes -r requirements/$(list).txt &&) true)

advisories: $(STAMP)-env ## Look locked versions up in clones of the lists of vulnerabilities: RUST=FOLDER PYPI=FOLDER
	$(BIN)/python packaging/supply/advisories.py $(if $(RUST),--rust $(RUST)) $(if $(PYPI),--python $(PYPI))

reproducible: $(STAMP)-wheels ## Build wheel and source archive twice, in two folders, and compare them byte for byte
	bash packaging/steady/compare.sh

instructions: $(STAMP)-tools ## Count the instructions of the hot kernels (valgrind), fail if more than stored; WRITE=--write stores
	$(BIN)/python benches/instructions.py $(WRITE)

unsafe: ## Run the tests of the unsafe calls and of what they serve under Miri, with wide vectors and without; needs rustup's nightly
	rustup component add --toolchain nightly miri rust-src
	for flags in "" "-C target-feature=+avx2" "-C target-feature=+avx2,+avx512f,+avx512dq,+avx512bw,+avx512vl,+avx512vpopcntdq"; do \
		RUSTFLAGS="$$flags" MIRIFLAGS=-Zmiri-disable-isolation CARGO_TARGET_DIR="target/miri$${flags##*+}" \
		cargo +nightly miri test --locked -p simplexdp-core --lib -- \
		wide:: random::chacha counting::tests::columns_of counting::tests::one_column counting::tests::a_ inference::sums || exit 1; \
	done

msrv: ## Check the workspace and test the core with the oldest Rust that Cargo.toml allows; needs rustup
	rustup toolchain install $(RUST_VERSION) --profile minimal --no-self-update
	CARGO_TARGET_DIR=target/msrv cargo +$(RUST_VERSION) check --locked --workspace --all-targets
	CARGO_TARGET_DIR=target/msrv cargo +$(RUST_VERSION) test --locked -p simplexdp-core

lock: ## Lock the Python tools again (needs uv on the path)
	uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header \
		--group build --group test --group lint -o requirements/dev.txt
	uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header \
		-c requirements/dev.txt --group build --extra cli pyproject.toml -o requirements/build.txt
	uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header \
		-c requirements/dev.txt --group bench -o requirements/bench.txt
	uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header \
		-c requirements/dev.txt --group wheels -o requirements/wheels.txt
	uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header \
		-c requirements/dev.txt --group docs -o requirements/docs.txt
	uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header \
		-c requirements/dev.txt --group supply -o requirements/supply.txt
	uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header \
		--group peer-diffprivlib -o requirements/diffprivlib.txt

bounds: ## Write the lowest and the newest requirements, from pyproject.toml
	$(BIN)/python requirements/bounds.py

clean: ## Remove everything that was built
	rm -rf $(VENV) target dist site

# What it takes to build and to use the command line: a newcomer's demo does not wait for the tests' engines.
$(STAMP)-tools: requirements/build.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/build.txt
	@touch $@

$(STAMP)-env: $(STAMP)-tools requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

$(STAMP)-bench: $(STAMP)-env requirements/bench.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench.txt
	@touch $@

# This peer imports no current scikit-learn: it has an environment of its own, which the benches ask through a pipe.
$(STAMP)-diffprivlib: $(STAMP)-env requirements/diffprivlib.txt
	$(PYTHON) -m venv $(VENV)/peers/diffprivlib
	$(VENV)/peers/diffprivlib/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		-r requirements/diffprivlib.txt
	@touch $@

$(STAMP)-docs: $(STAMP)-env requirements/docs.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/docs.txt
	@touch $@

$(STAMP)-wheels: $(STAMP)-env requirements/wheels.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/wheels.txt
	@touch $@

$(STAMP)-supply: $(STAMP)-tools requirements/supply.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/supply.txt
	@touch $@

$(STAMP)-build: $(STAMP)-tools pyproject.toml $(RUST_SOURCES)
	@# What pip says of extras that nobody asked for stays in the log, unless the build fails.
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --locked --quiet > $(VENV)/build.log || { cat $(VENV)/build.log; exit 1; }
	@touch $@
