"""What several tests use."""

import os

import numpy as np
import pytest

import tessera as ts


def integers(rows, cols, dtype=np.float32, seed=1):
    """Small whole numbers, whose products and sums are exact."""
    return np.random.default_rng(seed).integers(-8, 9, (rows, cols)).astype(dtype)


@pytest.fixture
def no_copy():
    """Fails if gemm copied an operand."""
    before = ts._core.copies_made()
    yield
    assert ts._core.copies_made() == before, "an operand was copied"


@pytest.fixture
def cuda():
    """Skips where there is no CUDA backend, visibly; fails if it is required."""
    info = next(b for b in ts.backends() if b.name == "cuda")
    if not info.available:
        required = "cuda" in os.environ.get("TESSERA_REQUIRE", "").split(",")
        (pytest.fail if required else pytest.skip)(str(info))
    return info


def present():
    return [b.name for b in ts.backends() if b.available]
