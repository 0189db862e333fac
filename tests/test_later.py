"""A module that is loaded later is the module as soon as somebody asks for a name of it."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from ccc.later import load_later
load_later("colorsys")
import colorsys
before = colorsys
assert "rgb_to_hsv" not in vars(before)
from colorsys import rgb_to_hsv
assert before.rgb_to_hsv is rgb_to_hsv
import colorsys
assert colorsys is not before and colorsys.rgb_to_hsv is rgb_to_hsv
load_later("colorsys")
assert sys.modules["colorsys"] is colorsys
try:
    before.nothing
except AttributeError:
    print("no such name")
"""


def test_a_module_is_loaded_when_a_name_is_asked_for() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout == "no such name\n"
