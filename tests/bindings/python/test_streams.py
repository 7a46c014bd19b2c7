"""Entry points of the package with standard streams that cannot be written to."""

import subprocess
import sys

import pytest

program = [sys.executable, "-m", "tessera"]


def run(redirection, *arguments):
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", *program, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("redirection", ["2> /dev/full", "2>&-", "0<&- 2>&-"])
def test_a_lost_message_changes_no_exit_status(redirection):
    ran = run(redirection, "no-such-command")
    assert (ran.returncode, ran.stdout) == (2, "")  # with stderr closed, Python would print on stdout
    ran = run(redirection, "--help")
    assert ran.returncode == 0 and "usage: python -m tessera compare" in ran.stdout
    ran = run(redirection, "cublas")
    assert ran.returncode in (0, 1) and "pip install" not in ran.stdout


@pytest.mark.parametrize("redirection", ["> /dev/full", ">&-", ">&- 2>&-", "> /dev/full 2> /dev/full"])
def test_a_lost_answer_is_status_2(redirection):
    assert run(redirection, "--help").returncode == 2


def test_a_reader_of_stderr_that_is_gone():
    with_status = '( { sleep 0.2; "$@" > /dev/null; echo $? >&3; } 2>&1 >&4 | true ) 3>&1 4> /dev/null'
    ran = subprocess.run(["sh", "-c", with_status, "sh", *program, "no-such-command"], capture_output=True, text=True)
    assert ran.stdout == "2\n"
