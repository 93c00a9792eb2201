"""What other systems lack: nothing of the package needs it to be imported, as far as that can be tried on this one."""

import subprocess
import sys

import pytest

#: Modules of the standard library that Windows does not have.
LACKING = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")
CODE = f"""
import builtins, importlib, pkgutil, sys
import triplebeam

found = builtins.__import__

def without(name, globals=None, *rest, **options):
    if name in {LACKING!r} and (globals or {{}}).get("__name__", "").startswith("triplebeam"):
        raise ModuleNotFoundError(f"No module named {{name!r}}: {{globals['__name__']}} imports it")
    return found(name, globals, *rest, **options)

builtins.__import__ = without
for module in pkgutil.walk_packages(triplebeam.__path__, "triplebeam."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
"""


@pytest.mark.slow
def test_every_module_is_imported_without_what_windows_lacks() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.splitlines()) > 300
