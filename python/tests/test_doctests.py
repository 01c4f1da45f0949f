"""The examples in the docstrings run as they are printed."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import isochron

MODULES = ["isochron"] + [f"isochron.{found.name}" for found in pkgutil.iter_modules(isochron.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


@pytest.mark.parametrize("name, at_least", [("python.md", 20), ("gradients.md", 8)])
def test_page(name, at_least):
    page = Path(__file__).resolve().parents[2] / "docs" / "guide" / name
    result = doctest.testfile(str(page), module_relative=False)
    assert result.failed == 0 and result.attempted > at_least


def test_there_are_examples():
    assert sum(doctest.testmod(importlib.import_module(name)).attempted for name in MODULES) > 10
