"""Runs a command and prints, as the last line, its seconds and its peak of resident memory in kB.

The kernel starts a child's peak at the size of the process that started it. So this one is kept
small: it is run by `python -I -S` and imports nothing but built-in modules.
"""

import posix
import sys
import time

command = sys.argv[1:]
start = time.perf_counter()
pid = posix.posix_spawnp(command[0], command, posix.environ)
_, status, usage = posix.wait4(pid, 0)
seconds = time.perf_counter() - start
print(seconds, usage.ru_maxrss)
code = posix.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)  # killed by a signal: the exit code of a shell
