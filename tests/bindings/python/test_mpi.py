"""tessera.mpi on several ranks: mpi_program.py under each MPI that is installed."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import tessera

here = pathlib.Path(__file__).parent
libraries = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}


def has_library(name):
    return subprocess.run([sys.executable, "-c", f"import ctypes; ctypes.CDLL({name!r})"], capture_output=True).returncode == 0


def run_program(mpi, tmp_path, *arguments, **environment):
    pytest.importorskip("mpi4py", reason="no mpi4py: pip install mpi4py")
    mpirun = shutil.which(f"mpirun.{mpi}")
    if mpirun is None or not has_library(libraries[mpi]):
        pytest.skip(f"no {mpi}, as Debian installs it")
    folder = pathlib.Path(tessera.__file__).parent
    folders = [folder, folder.parents[1] / "lib"]
    if not any((x / f"libtessera_mpi_{mpi}.so").exists() for x in folders):
        pytest.skip(f"Tessera was built without its plug-in for {mpi}")
    # mpi4py's package asks for libmpi.so.12, as MPICH names it; Debian names it libmpich.so.12.
    (tmp_path / "libmpi.so.12").symlink_to("/usr/lib/x86_64-linux-gnu/libmpich.so.12")
    paths = f"{tmp_path}:{os.environ.get('LD_LIBRARY_PATH', '')}" if mpi == "mpich" else os.environ.get("LD_LIBRARY_PATH", "")
    ran = subprocess.run(
        [here.parents[1] / "extensions/distributed" / "mpirun.sh", mpi, mpirun, "3", sys.executable, here / "mpi_program.py", *arguments],
        env=os.environ | {"MPI4PY_MPIABI": mpi, "LD_LIBRARY_PATH": paths, "TESSERA_NUM_THREADS": "1"} | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("is done") == 3


@pytest.mark.parametrize("mpi", libraries)
def test_products_have_the_bits_of_one_rank(mpi, tmp_path):
    run_program(mpi, tmp_path, "arrays")


@pytest.mark.parametrize("mpi", libraries)
def test_arrays_stay_on_a_device(mpi, tmp_path):
    stand_in = pathlib.Path(tessera.__file__).parents[2] / "tests/system/plugin/plugins/small_device"  # of a build tree
    if stand_in.exists():
        run_program(mpi, tmp_path, "residence", "stand_in", TESSERA_PLUGIN_PATH=str(stand_in))
    else:
        run_program(mpi, tmp_path, "residence")


def test_the_error_without_mpi4py_says_what_to_install():
    if importlib.util.find_spec("mpi4py") is not None:
        script = "import sys; sys.modules['mpi4py'] = None; import tessera.mpi as tm; tm.Grid(None, 1, 1)"
    else:
        script = "import tessera.mpi as tm; tm.Grid(None, 1, 1)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.returncode != 0
    assert "pip install mpi4py" in ran.stderr
