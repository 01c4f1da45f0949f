"""The stub of the compiled part names what it has, with the same arguments and defaults; the rest is typed in place."""

import ast
import inspect
import re
from pathlib import Path

import isochron
from isochron import _core

PACKAGE = Path(__file__).resolve().parent.parent / "isochron"


def stub_signature(function):
    """[(name, default or None), ...] without self."""
    names = [argument.arg for argument in function.args.args]
    defaults = [None] * (len(names) - len(function.args.defaults)) + [ast.literal_eval(d) for d in function.args.defaults]
    has_default = [False] * (len(names) - len(function.args.defaults)) + [True] * len(function.args.defaults)
    return [(n, h, d) for n, h, d in zip(names, has_default, defaults) if n != "self"]


def runtime_signature(function):
    """The same from the first line of a pybind11 docstring: name(a: type, b: type = 3) -> type."""
    line = function.__doc__.strip().splitlines()[0]
    inside = re.fullmatch(r"\w+\((.*)\) -> .*", line).group(1)
    result = []
    for part in re.split(r", (?=\w+: )", inside) if inside else []:
        name, _, rest = part.partition(": ")
        _, equal, default = rest.rpartition(" = ")
        if name != "self":
            result.append((name, bool(equal), ast.literal_eval(default) if equal else None))
    return result


def stub():
    return ast.parse((PACKAGE / "_core.pyi").read_text()).body


def test_same_functions_with_the_same_arguments():
    described = {node.name: stub_signature(node) for node in stub() if isinstance(node, ast.FunctionDef)}
    actual = {n: runtime_signature(f) for n, f in vars(_core).items() if inspect.isbuiltin(f)}
    assert described == actual


def test_same_classes_with_the_same_members():
    for node in [node for node in stub() if isinstance(node, ast.ClassDef)]:
        actual = getattr(_core, node.name)
        described = {member.name: member for member in node.body if isinstance(member, ast.FunctionDef)}
        has = {n for n in vars(actual) if not n.startswith("_")} | ({"__init__"} if "__init__" in described else set())
        assert set(described) == has, node.name
        for name, member in described.items():
            if not member.decorator_list:
                assert stub_signature(member) == runtime_signature(getattr(actual, name)), f"{node.name}.{name}"
    described = {node.name for node in stub() if isinstance(node, ast.ClassDef)}
    assert described == {n for n, value in vars(_core).items() if inspect.isclass(value)}


def test_public_functions_are_typed_and_documented():
    assert (PACKAGE / "py.typed").exists()
    for name in isochron.__all__:
        thing = getattr(isochron, name)
        if name.startswith("__"):
            continue
        assert thing.__doc__, name
        members = [thing] if inspect.isfunction(thing) else [f for f in vars(thing).values() if inspect.isfunction(f)]
        for function in members:
            signature = inspect.signature(function)
            assert signature.return_annotation is not signature.empty, f"{name}: {function.__name__}"
            for argument in list(signature.parameters.values())[0 if inspect.isfunction(thing) else 1 :]:
                assert argument.annotation is not argument.empty, f"{name}: {function.__name__}({argument.name})"
