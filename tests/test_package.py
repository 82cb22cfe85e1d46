import subprocess
import sys

import pytest

import glcn


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_import_is_light_and_names_load_on_use():
    heavy = "[m for m in ('torch', 'numba', 'sklearn', 'torch_geometric') if m in sys.modules]"
    assert run(f"import sys, glcn; print(*{heavy})") == []
    loaded = run(f"import sys; from glcn import GLCNClassifier; print(*{heavy})")
    assert "torch" in loaded
    assert "torch_geometric" not in loaded


def test_names():
    assert all(getattr(glcn, name) is not None for name in glcn.__all__)
    assert set(glcn.__all__) <= set(dir(glcn))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = glcn.nothing
