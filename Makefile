# `make` alone lists the targets. `make demo` and `make test` set up all they need in .venv;
# PYTHON=... picks the interpreter that .venv is made from.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
TOOLKIT := "cuda-toolkit[nvcc,cudart,cccl]==13.0.*"
NVRTC := "cuda-toolkit[nvrtc,cudart,cccl]==13.0.*"

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test test-long check lint bless clean toolkit

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

demo: $(VENV)/base.stamp $(VENV)/gpu.stamp toolkit ## Compare the BFS sample before and after the transformation
	$(BIN)/ccc compare samples/bfs

test: $(VENV)/dev.stamp $(VENV)/gpu.stamp toolkit ## Run the tests
	$(BIN)/python -m pytest -n 2 --dist worksteal -q

test-long: $(VENV)/dev.stamp $(VENV)/gpu.stamp toolkit ## Run the tests in full breadth
	$(BIN)/python -m pytest -n 2 --dist worksteal -q --long

check: lint ## Lint, and run the tests that are quick
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m "not slow"

lint: $(VENV)/dev.stamp ## Check style, format and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy --cache-dir .mypy_cache/tests --implicit-reexport --allow-any-generics --no-warn-unused-ignores tests docs/pages.py docs/shell_pages.py

bless: $(VENV)/dev.stamp toolkit ## Rewrite the expected halves of the golden tests
	$(BIN)/python -m pytest -n 2 -q --bless tests/test_golden.py tests/test_samples.py tests/test_docs.py

clean: ## Remove .venv and everything that was built
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Set-up. A stamp per extra: reruns cost nothing, and a changed pyproject.toml installs again.

$(VENV)/pyvenv.cfg:
	@command -v "$(PYTHON)" >/dev/null || \
	    { echo "ccc needs Python 3.10 or later, and there is no $(PYTHON): apt install python3 python3-venv" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	    { echo "ccc needs Python 3.10 or later, and $(PYTHON) is $$("$(PYTHON)" -V 2>&1): make PYTHON=python3.12 ..." >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || \
	    { echo "ccc sets itself up in a virtual environment, which $(PYTHON) cannot make: apt install python3-venv" >&2; exit 1; }
	"$(PYTHON)" -m venv --clear $(VENV)

$(VENV)/base.stamp: pyproject.toml $(VENV)/pyvenv.cfg
	$(PIP) install -e .
	@touch $@

$(VENV)/dev.stamp: pyproject.toml $(VENV)/pyvenv.cfg
	$(PIP) install -e '.[dev]'
	@touch $@ $(VENV)/base.stamp

# Where there is a GPU: CuPy, and the run-time compiler that CuPy's own array functions need.
# Without them everything runs on the emulator, so a failure only says so.
$(VENV)/gpu.stamp: pyproject.toml $(VENV)/pyvenv.cfg
	@if nvidia-smi -L >/dev/null 2>&1; then \
	    echo "a GPU is here: installing CuPy in $(VENV) (about 160 MB)"; \
	    $(PIP) install -e '.[gpu]' $(NVRTC) || \
	        echo "CuPy could not be installed: the emulator is used ('rm $@' tries again)" >&2; \
	fi
	@touch $@

# A CUDA compiler, installed in .venv where the machine has none, and the host compiler it calls.
toolkit: $(VENV)/pyvenv.cfg
	@if command -v nvcc >/dev/null || [ -x "$${CUDA_HOME:-/nonexistent}/bin/nvcc" ] \
	    || [ -x "$${CUDA_PATH:-/nonexistent}/bin/nvcc" ] \
	    || ls $(VENV)/lib/python3*/site-packages/nvidia/cu13/bin/nvcc >/dev/null 2>&1; then :; \
	else \
	    echo "no nvcc found: installing CUDA 13.0's in $(VENV) (about 105 MB)"; \
	    $(PIP) install $(TOOLKIT); \
	fi
	@echo '#include <cstdlib>' | "$${NVCC_CCBIN:-gcc}" -E -x c++ - >/dev/null 2>&1 || \
	    { echo "nvcc needs a C++ compiler on this machine: apt install g++" >&2; exit 1; }
