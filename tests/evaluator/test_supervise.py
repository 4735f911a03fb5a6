"""Supervision of real processes: deadlines, floods, stubborn trees, leaks."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ce_eval.sandbox.output import BoundedOutput
from ce_eval.sandbox.scratch import ScratchFolder
from ce_eval.sandbox.supervise import Cancel, Completed, Limits, Supervisor, shell_status

ENV = {"PATH": "/usr/bin:/bin"}


@pytest.fixture
def supervisor() -> Supervisor:
    return Supervisor()


def sh(supervisor: Supervisor, script: str, **limits: float | int | None) -> Completed:
    return supervisor.run(["/bin/sh", "-c", script], env=ENV, limits=Limits(**limits))  # type: ignore[arg-type]


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie that nobody waits for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def eventually(condition: object, seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("code", [0, 1, 3, 127, 255])
def test_exit_codes(supervisor: Supervisor, code: int) -> None:
    done = sh(supervisor, f"exit {code}")
    assert (done.exit_code, done.signal, done.ok) == (code, None, code == 0)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGFPE])
def test_signals_of_the_child_and_of_its_child(supervisor: Supervisor, number: signal.Signals) -> None:
    direct = sh(supervisor, f"kill -{int(number)} $$")
    below = sh(supervisor, f"/bin/sh -c 'kill -{int(number)} $$'; exit $?")
    assert (direct.exit_code, direct.signal) == (None, number)
    assert (below.exit_code, below.signal) == (None, number)
    assert not direct.oom


@pytest.mark.parametrize(
    ("code", "expected"),
    [(0, (0, None)), (128, (128, None)), (-11, (None, 11)), (139, (None, 11)), (255, (255, None))],
)
def test_shell_status(code: int, expected: tuple[int | None, int | None]) -> None:
    assert shell_status(code) == expected


def test_output_is_merged_in_order_and_stdin_is_empty(supervisor: Supervisor) -> None:
    done = sh(supervisor, "echo a; echo b >&2; cat; echo c")
    assert done.output == "a\nb\nc\n"


def test_a_program_that_does_not_exist_is_the_machines_fault(supervisor: Supervisor) -> None:
    done = supervisor.run(["/no/such/program"], env=ENV, limits=Limits())
    assert done.spawn_error
    assert "/no/such/program" in done.spawn_error
    assert (done.exit_code, done.signal, done.ok) == (None, None, False)


def test_bytes_that_are_no_text_become_replacement_characters(supervisor: Supervisor) -> None:
    done = sh(supervisor, r"printf '\377\000\303\251\n'")
    assert done.output == "\ufffd\ufffdé\n"


def test_deadline(supervisor: Supervisor) -> None:
    start = time.monotonic()
    done = sh(supervisor, "echo before; sleep 60", wall_seconds=0.2)
    assert done.timed_out
    assert (done.exit_code, done.signal, done.ok) == (None, signal.SIGKILL, False)
    assert done.output == "before\n"
    assert 0.2 <= done.wall_seconds < 2
    assert time.monotonic() - start < 3


STUBBORN = {
    "ignores TERM": "trap '' TERM INT HUP; echo $$ >>PIDS; sleep 60; sleep 60",
    "background": "(echo $(exec sh -c 'echo $PPID') >>PIDS; sleep 60) & sleep 60",
    "own session": "setsid sh -c 'echo $$ >>PIDS; sleep 60' & sleep 60",
    "double fork": "(setsid sh -c 'echo $$ >>PIDS; exec sleep 60' &) ; sleep 60",
    "daemon": "(setsid sh -c 'echo $$ >>PIDS; exec sleep 60' <&- >&- 2>&- &) ; sleep 60",
}


@pytest.mark.parametrize("script", STUBBORN.values(), ids=STUBBORN.keys())
def test_a_timeout_ends_the_whole_tree(supervisor: Supervisor, script: str, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    done = sh(supervisor, script.replace("PIDS", str(pids)), wall_seconds=0.3)
    assert done.timed_out
    started = [int(line) for line in pids.read_text().split()]
    assert started
    assert eventually(lambda: not any(alive(pid) for pid in started))


@pytest.mark.parametrize("detach", ["setsid ", ""])
def test_what_outlives_its_parent_neither_hangs_the_run_nor_survives_it(
    supervisor: Supervisor, detach: str, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    done = sh(supervisor, f"{detach}sh -c 'echo $$ >{pids}; exec sleep 60' & sleep 0.1; echo done")
    assert done.ok
    assert done.output == "done\n"
    assert done.wall_seconds < 5
    assert eventually(lambda: not alive(int(pids.read_text())))


def test_a_flood_is_cut_off_in_bounded_memory(supervisor: Supervisor) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = sh(supervisor, "yes", output_bytes=256 << 20, wall_seconds=30)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert done.output_limit_hit
    assert (done.timed_out, done.signal) == (False, signal.SIGKILL)
    assert done.dropped_bytes > 250 << 20
    assert len(done.output) < 150 << 10
    assert grown < 8 << 10, f"{grown} KiB"


def test_head_and_tail_are_kept(supervisor: Supervisor) -> None:
    done = sh(supervisor, "echo first; seq 100000; echo last", kept_output_bytes=100)
    assert done.exit_code == 0
    assert done.output.startswith("first\n1\n")
    assert done.output.endswith("\n100000\nlast\n")
    assert f"[... {done.dropped_bytes} bytes left out ...]" in done.output
    assert done.dropped_bytes == len("first\nlast\n") + sum(len(f"{n}\n") for n in range(1, 100001)) - 200


@pytest.mark.parametrize("keep", [0, 1, 4, 100])
@pytest.mark.parametrize("chunks", [[b""], [b"abc"], [b"a", b"b", b"cdefgh"], [b"0123456789"] * 30])
def test_bounded_output_accounts_for_every_byte(keep: int, chunks: list[bytes]) -> None:
    output = BoundedOutput(keep)
    for chunk in chunks:
        output.add(chunk)
    whole = b"".join(chunks)
    assert output.total_bytes == len(whole)
    assert output.dropped_bytes == max(0, len(whole) - 2 * keep)
    if not output.dropped_bytes:
        assert output.text() == whole.decode()
    else:
        assert output.text().startswith(whole[:keep].decode())
        assert output.text().endswith(whole[len(whole) - keep :].decode())


def test_cpu_time_and_memory_are_those_of_the_tree(supervisor: Supervisor) -> None:
    burn = "import time; x = bytearray(300 << 20); time.sleep(0.25)\nwhile time.process_time() < 0.3: pass"
    done = supervisor.run(
        ["/bin/sh", "-c", '"$0" -S -c "$1"; exit $?', sys.executable, burn], env=ENV, limits=Limits()
    )
    assert done.ok
    assert done.cpu_seconds >= 0.3
    assert 300 << 20 <= done.peak_memory_bytes < 400 << 20


def test_memory_limit(supervisor: Supervisor) -> None:
    hog = "import time\nx = [bytearray(10 << 20) for _ in range(20)]\ntime.sleep(60)"
    done = supervisor.run(
        [sys.executable, "-S", "-c", hog], env=ENV, limits=Limits(memory_bytes=100 << 20, wall_seconds=20)
    )
    assert done.memory_limit_hit
    assert not done.timed_out
    assert done.peak_memory_bytes > 100 << 20


def test_process_limit(supervisor: Supervisor) -> None:
    done = sh(
        supervisor, "for i in 1 2 3 4 5 6 7 8 9; do sleep 60 & done; wait", processes=5, wall_seconds=20
    )
    assert done.process_limit_hit
    assert not done.timed_out


def test_cancel_ends_what_runs_and_what_is_started_later() -> None:
    cancel = Cancel()
    supervisor = Supervisor(cancel)
    results: list[Completed] = []
    threads = [threading.Thread(target=lambda: results.append(sh(supervisor, "sleep 60"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    start = time.monotonic()
    cancel.set()
    for thread in threads:
        thread.join(5)
    assert time.monotonic() - start < 2
    assert [done.cancelled for done in results] == [True] * 4
    later = sh(supervisor, "echo must not run")
    assert later.cancelled
    assert later.output == ""


def test_keyboard_interrupt_kills_the_run_and_is_passed_on(supervisor: Supervisor, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sh(supervisor, f"echo $$ >{pids}; exec sleep 60")
    assert not alive(int(pids.read_text()))


def test_descriptors_neither_leak_nor_reach_children(supervisor: Supervisor) -> None:
    sh(supervisor, "true")
    stray = os.open("/dev/null", os.O_RDONLY)
    passed_read, passed_write = os.pipe()
    os.set_inheritable(stray, True)
    before = sorted(os.listdir("/proc/self/fd"))
    program = f"import os; print(*os.listdir('/proc/self/fd')); os.write({passed_write}, b'word')"
    try:
        done = supervisor.run(
            [sys.executable, "-S", "-c", program],
            env=ENV,
            limits=Limits(),
            pass_fds=[passed_write],
        )
        assert done.ok
        assert os.read(passed_read, 4) == b"word"
        # The fourth is the one that lists them.
        assert {int(name) for name in done.output.split()} <= {0, 1, 2, passed_write, 3}
        for _ in range(20):
            sh(supervisor, "true")
            sh(supervisor, "sleep 9", wall_seconds=0.001)
        supervisor.run(["/no/such/program"], env=ENV, limits=Limits())
        assert sorted(os.listdir("/proc/self/fd")) == before
    finally:
        for descriptor in (stray, passed_read, passed_write):
            os.close(descriptor)


def test_many_threads_at_once(supervisor: Supervisor) -> None:
    failures: list[str] = []

    def work(number: int) -> None:
        for round_ in range(10):
            done = sh(supervisor, f"echo {number}.{round_}; exit {number}")
            if (done.exit_code, done.output) != (number, f"{number}.{round_}\n"):
                failures.append(repr(done))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.fixture
def orphanage(tmp_path: Path) -> Iterator[Path]:
    """A file of pids that must be gone when the test ends."""
    pids = tmp_path / "pids"
    yield pids
    for line in pids.read_text().split():
        if alive(int(line)):
            os.kill(int(line), signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("mode", ["local", pytest.param("sandbox", marks=pytest.mark.sandbox)])
def test_nothing_outlives_the_evaluator(
    mode: str, number: signal.Signals, orphanage: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if mode == "sandbox":
        request.getfixturevalue("needs_bubblewrap")
    # In a namespace the pids are others, so there the process is found by what it sleeps.
    naptime = str(7000 + os.getpid() % 1000 + int(number) * 1000)
    program = (
        "import sys; from pathlib import Path; from ce_eval.sandbox import Job, open_sandbox\n"
        "open_sandbox(sys.argv[1]).run(Job(sys.argv[2], Path(sys.argv[3])))"
    )
    command = f"setsid sleep {naptime} & sleep {naptime} & sleep {naptime}"
    evaluator = subprocess.Popen(
        [sys.executable, "-c", program, mode, command, str(tmp_path)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )

    def sleepers() -> list[int]:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        return [pid for pid in pids if command_line(pid) == f"sleep\0{naptime}\0".encode() and alive(pid)]

    assert eventually(lambda: len(sleepers()) == 3, 20)
    orphanage.write_text("\n".join(map(str, sleepers())))
    evaluator.send_signal(number)
    evaluator.wait()
    assert eventually(lambda: sleepers() == [])


def test_scratch_folders_go_with_their_object_and_with_their_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "from ce_eval.sandbox.scratch import *; import sys, os\n"
    program += "f = ScratchFolder('x-', Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    (abandoned,) = tmp_path.iterdir()
    (tmp_path / "x-link").symlink_to("/usr")
    kept = ScratchFolder("x-", tmp_path)
    assert abandoned.exists()
    monkeypatch.setattr("ce_eval.sandbox.scratch._GRACE_SECONDS", -1.0)
    other = ScratchFolder("x-", tmp_path)
    assert not abandoned.exists()
    assert kept.path.exists()
    kept.close()
    assert not kept.path.exists()
    path = other.path
    del other
    assert not path.exists()
