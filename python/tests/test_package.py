"""The package itself: examples, stubs, independence."""

import ast
import doctest
import inspect
import pathlib
import subprocess
import sys

import pytest

import lanefish

from lanefish._lanefish import _HAS_SQL as HAS_SQL

FOLDER = pathlib.Path(lanefish.__file__).parent


@pytest.mark.parametrize("name", ["lanefish", *lanefish.__all__])
def test_examples(name):
    if name == "__version__":
        return
    if name == "sql" and not HAS_SQL:
        pytest.skip("SKIPPED: this wheel has no sql")
    thing = lanefish if name == "lanefish" else getattr(lanefish, name)
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(thing), {}, name, None, None)
    assert test.examples, f"{name} has no example"
    result = doctest.DocTestRunner().run(test)
    assert result.failed == 0


def test_stubs_have_everything():
    assert (FOLDER / "py.typed").exists()
    stubs = ast.parse((FOLDER / "__init__.pyi").read_text())
    defined = {node.name: node for node in stubs.body if hasattr(node, "name")}
    for name in lanefish.__all__:
        if name == "__version__":
            continue
        assert name in defined
        thing, stub = getattr(lanefish, name), defined[name]
        if isinstance(stub, ast.FunctionDef):
            found = [p.name for p in inspect.signature(thing).parameters.values()]
            arguments = stub.args
            stubs_of = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
            assert found == [a.arg for a in stubs_of + [a for a in [arguments.kwarg] if a]], name
        elif name != "Error":
            methods = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
            public = {m for m in vars(thing) if not m.startswith("_") or m.startswith("__arrow")}
            assert public <= methods, name


def test_nothing_else_is_imported():
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['pyarrow', 'numpy', 'pandas', 'polars', 'duckdb']));"
        "import lanefish; t = lanefish.compute(['8/8/8/8/8/8/6k1/4K2R w K -'], 'legal_moves');"
        "assert t['legal_moves'] == [12]; lanefish.cpu(); lanefish.columns()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_columns_and_cpu():
    columns = lanefish.columns()
    names = [column["name"] for column in columns]
    families = ["tag:NAME", "folder:NAME", "features:SET:SIDE", "output_bucket:N"]
    assert "legal_moves" in names and names[-len(families) :] == families
    assert lanefish.columns(of="games")[-1]["name"] == "tag:NAME"
    assert len(names) == len(set(names))
    assert lanefish.cpu()["tier"] in lanefish.cpu()["tiers"]
    assert lanefish.__version__ == lanefish.cpu()["version"]
