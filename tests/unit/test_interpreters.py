"""Sub-interpreters: one interpreter of a process has the library, any other is refused in words."""

import importlib.util
import subprocess
import sys

import pytest

MODULE = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"

PROGRAM = f"""
import sys
import {MODULE} as interpreters
HERE
code = f"import sys; sys.path[:] = {{sys.path!r}}" + chr(10) + CODE
other = interpreters.create(*OPTIONS)
try:
    failure = interpreters.run_string(other, code)
except Exception as error:
    failure = error
print("REFUSED", getattr(failure, "formatted", failure)) if failure else print("LOADED")
"""
LOAD = "import simplexdp._core"


def loaded_in_another(here: str, code: str, options: str = "()") -> str:
    """Return what a fresh process prints that loads the core here and then in a sub-interpreter."""
    program = PROGRAM.replace("HERE", here).replace("CODE", repr(code)).replace("OPTIONS", options)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    return done.stdout


pytestmark = pytest.mark.skipif(importlib.util.find_spec(MODULE) is None, reason="no sub-interpreters in this Python")


def test_an_interpreter_beside_the_first_is_refused():
    said = loaded_in_another(LOAD, LOAD)
    assert said.startswith("REFUSED")
    assert "sub-interpreters" in said or "subinterpreters" in said


@pytest.mark.skipif(sys.version_info < (3, 13), reason="this Python has one kind of sub-interpreter")
def test_an_interpreter_that_shares_the_lock_is_refused_by_the_library():
    said = loaded_in_another(LOAD, LOAD, '("legacy",)')
    assert said.startswith("REFUSED")
    assert "use processes or threads" in said


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python refuses sub-interpreters by itself")
def test_the_refusal_tells_what_to_use():
    assert "use processes or threads" in loaded_in_another(LOAD, LOAD)


def test_loading_twice_in_one_interpreter_is_no_second_interpreter():
    again = "import sys; del sys.modules['simplexdp._core']; import simplexdp._core; print('again')"
    done = subprocess.run(
        [sys.executable, "-c", f"{LOAD}\n{again}"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout == "again\n", done.stderr
