"""Both sandboxes, with real commands; what only isolation gives is asked of bubblewrap alone."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ce_eval.machine import Gpu
from ce_eval.outcomes import classify_test
from ce_eval.sandbox import Completed, Job, Limits, Sandbox, open_sandbox
from ce_eval.sandbox.base import shell_script
from ce_eval.sandbox.paths import device_nodes, needed_roots, search_path
from ce_eval.sandbox.seccomp import filter_program
from ce_schema.errors import ExitCode, InputError, MachineLacksError
from ce_schema.grade import Outcome

REPOSITORY = Path(__file__).resolve().parents[2]


MODES = ["local", pytest.param("sandbox", marks=pytest.mark.sandbox)]


@pytest.fixture(scope="module", params=MODES)
def either(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Each mode in turn."""
    if request.param == "sandbox":
        request.getfixturevalue("needs_bubblewrap")
    sandbox = open_sandbox(request.param)
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="module")
def isolated(needs_bubblewrap: None) -> Iterator[Sandbox]:
    sandbox = open_sandbox("sandbox")
    yield sandbox
    sandbox.close()


def run(sandbox: Sandbox, command: str, workspace: Path, **limits: float) -> Completed:
    limits.setdefault("wall_seconds", 30)
    return sandbox.run(Job(command, workspace, Limits(**limits)))  # type: ignore[arg-type]


def python(source: str) -> str:
    """A command that runs a Python program."""
    return f"python3 -I -S - <<'END'\n{textwrap.dedent(source)}\nEND"


# --- both modes ---


@pytest.mark.parametrize(
    ("command", "exit_code", "signal"),
    [
        ("true", 0, None),
        ("exit 7", 7, None),
        ("false || exit 2", 2, None),
        ("no-such-program", 127, None),
        ("if", 2, None),
        ("sh -c 'kill -SEGV $$'", None, 11),
        ("sh -c 'kill -ABRT $$'", None, 6),
        ("kill -9 $$; sh -c 'kill -9 $$'", None, 9),
    ],
)
def test_how_commands_end(
    either: Sandbox, tmp_path: Path, command: str, exit_code: int | None, signal: int | None
) -> None:
    done = run(either, command, tmp_path)
    assert (done.exit_code, done.signal, done.spawn_error) == (exit_code, signal, None)


def test_abort_is_a_crash_even_of_a_last_command(either: Sandbox, tmp_path: Path) -> None:
    done = run(either, "python3 -I -S -c 'import os; os.abort()'", tmp_path)
    assert done.signal == 6


def test_a_command_sees_its_workspace_and_leaves_files_there(either: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("in")
    done = run(either, 'cat in.txt; pwd; test "$PWD" = "$(pwd)" && echo out >out.txt', tmp_path)
    assert done.ok
    assert done.output.startswith("in")
    assert (tmp_path / "out.txt").read_text() == "out\n"
    assert (tmp_path / "out.txt").stat().st_uid == os.getuid()


def test_shell_redirections_to_standard_streams_work(either: Sandbox, tmp_path: Path) -> None:
    done = run(either, "echo a >/dev/stderr; echo b >/dev/stdout; echo c | cat /dev/stdin", tmp_path)
    assert done.output == "a\nb\nc\n"


@pytest.mark.parametrize("mode", MODES)
def test_the_environment_is_an_allow_list(
    mode: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if mode == "sandbox":
        request.getfixturevalue("needs_bubblewrap")
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("LD_PRELOAD", "")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("CUDA_MODULE_LOADING", "EAGER")
    sandbox = open_sandbox(mode)
    done = sandbox.run(Job("env", tmp_path, env={"CE_SEED": "5"}))
    seen = dict(line.split("=", 1) for line in done.output.splitlines())
    assert set(seen) <= {
        "PATH",
        "HOME",
        "TMPDIR",
        "LANG",
        "LC_ALL",
        "PWD",
        "CE_SEED",
        "CE_RUN",
        "LD_LIBRARY_PATH",
    } | {
        name
        for name in os.environ
        if name.startswith(("CUDA_", "NV", "CPATH", "CPLUS", "C_INC", "LIBRARY", "CUTLASS"))
    }
    assert seen["CUDA_MODULE_LOADING"] == "EAGER"
    assert seen["CE_SEED"] == "5"
    assert "hunter2" not in done.output
    assert seen["HOME"] != os.environ.get("HOME")


def test_home_and_tmpdir_are_writable_and_not_shared(either: Sandbox, tmp_path: Path) -> None:
    command = 'ls -A "$HOME" "$TMPDIR" | grep left; echo x >"$HOME/left"; echo x >"$TMPDIR/left2"'
    for _ in range(2):
        done = run(either, command, tmp_path)
        assert (done.exit_code, done.output) == (0, "")


def test_python_is_the_one_that_runs_the_evaluator(either: Sandbox, tmp_path: Path) -> None:
    done = run(either, "python3 -c 'import sys, pydantic; print(sys.prefix)'", tmp_path)
    assert done.output.strip() == sys.prefix


@pytest.mark.nvcc
def test_the_compiler_works(either: Sandbox, tmp_path: Path) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("not run: no nvcc")
    assert run(either, "nvcc --version", tmp_path).ok


def test_resource_limits(either: Sandbox, tmp_path: Path) -> None:
    done = run(either, "ulimit -c; ulimit -n; ulimit -f", tmp_path, open_files=64, file_bytes=1 << 20)
    assert done.output.split() == ["0", "64", "2048"]


def test_a_file_past_the_limit_is_a_disk_limit(either: Sandbox, tmp_path: Path) -> None:
    done = run(either, "head -c 2000000 /dev/zero >big", tmp_path, file_bytes=1 << 20)
    assert done.signal == 25
    assert classify_test(done) is Outcome.DISK_LIMIT
    assert (tmp_path / "big").stat().st_size == 1 << 20


@pytest.mark.parametrize(
    "command",
    [
        "trap '' TERM; sleep 60; sleep 60",
        "setsid sleep 60 & (setsid sleep 60 >/dev/null 2>&1 &); sleep 60",
    ],
)
def test_timeout(either: Sandbox, tmp_path: Path, command: str) -> None:
    done = run(either, command, tmp_path, wall_seconds=0.3)
    assert done.timed_out
    assert done.wall_seconds < 5
    assert classify_test(done) is Outcome.TIMED_OUT


def test_an_output_flood(either: Sandbox, tmp_path: Path) -> None:
    done = run(either, "yes", tmp_path)
    assert done.output_limit_hit
    assert len(done.output) < 150_000


def test_a_background_process_ends_with_the_command(either: Sandbox, tmp_path: Path) -> None:
    """What a build leaves running must not be there to change the test."""
    late = tmp_path / "late"
    done = run(
        either, "(setsid sh -c 'sleep 0.3; echo tampered >late' >/dev/null 2>&1 &); echo built", tmp_path
    )
    assert done.ok
    assert done.wall_seconds < 5
    time.sleep(0.5)
    assert not late.exists()


def test_concurrent_jobs(either: Sandbox, tmp_path: Path) -> None:
    wrong: list[Completed] = []

    def work(number: int) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        for _ in range(3):
            done = run(either, f"echo {number} >>mine; cat mine | tail -1; exit {number}", folder)
            if (done.exit_code, done.output) != (number, f"{number}\n"):
                wrong.append(done)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_no_descriptor_is_left_open(either: Sandbox, tmp_path: Path) -> None:
    run(either, "true", tmp_path)
    before = sorted(os.listdir("/proc/self/fd"))
    for _ in range(5):
        run(either, "true", tmp_path)
        run(either, "sleep 9", tmp_path, wall_seconds=0.02)
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_a_descriptor_can_be_handed_in(either: Sandbox, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    try:
        command = f"python3 -I -S -c 'import os; os.write({writer}, b\"word\")'"
        assert either.run(Job(command, tmp_path, pass_fds=[writer])).ok
        assert os.read(reader, 10) == b"word"
    finally:
        os.close(reader)
        os.close(writer)


@pytest.mark.parametrize("mode", MODES)
def test_cancel(mode: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if mode == "sandbox":
        request.getfixturevalue("needs_bubblewrap")
    sandbox = open_sandbox(mode)
    threading.Timer(0.2, sandbox.cancel).start()
    done = run(sandbox, "sleep 60", tmp_path)
    assert done.cancelled
    assert done.wall_seconds < 5
    assert classify_test(done) is Outcome.INFRASTRUCTURE_ERROR
    assert run(sandbox, "true", tmp_path).cancelled
    sandbox.close()


def test_a_workspace_that_is_not_there_is_the_machines_fault(either: Sandbox, tmp_path: Path) -> None:
    done = run(either, "true", tmp_path / "gone")
    assert classify_test(done) is Outcome.INFRASTRUCTURE_ERROR


def test_gpus_are_chosen_by_uuid(either: Sandbox, tmp_path: Path) -> None:
    gpus = [Gpu(n, "NVIDIA H200", "9.0", 1, f"GPU-{n}", True, minor=n) for n in (2, 5)]
    done = either.run(Job("echo $CUDA_VISIBLE_DEVICES", tmp_path, gpu=True, gpus=gpus))
    assert done.output == "GPU-2,GPU-5\n"


def test_what_is_enforced_is_said(either: Sandbox) -> None:
    described = either.describe()
    assert any(line.startswith("enforced") for line in described)
    assert any(line.startswith("not enforced") for line in described)
    assert (either.notice() is None) == (either.name == "sandbox")


# --- isolation ---


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("gpu", "loopback", "sockets"),
    [(False, None, False), (True, None, True), (False, True, True), (True, False, False)],
)
def test_there_is_no_network(
    isolated: Sandbox, tmp_path: Path, gpu: bool, loopback: bool | None, sockets: bool
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        program = f"""
            import socket
            for address in (("127.0.0.1", {port}), ("1.1.1.1", 53)):
                try:
                    socket.create_connection(address, 2)
                    print("reached", address)
                except OSError:
                    pass
            for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
                try:
                    socket.socket(family, socket.SOCK_DGRAM)
                    print("made")
                except PermissionError:
                    print("refused")
            one, other = socket.socketpair()
            one.send(b"pair")
            print(other.recv(9))
        """
        done = isolated.run(Job(python(program), tmp_path, gpu=gpu, loopback=loopback))
    assert done.output.split() == ["made" if sockets else "refused"] * 4 + ["b'pair'"]


@pytest.mark.sandbox
def test_the_loopback_interface_works_and_is_the_only_one(isolated: Sandbox, tmp_path: Path) -> None:
    program = """
        import socket
        server = socket.create_server(("127.0.0.1", 0))
        socket.create_connection(server.getsockname())
        print(socket.if_nameindex())
    """
    done = isolated.run(Job(python(program), tmp_path, loopback=True))
    assert done.output == "[(1, 'lo')]\n"


@pytest.mark.sandbox
def test_the_users_files_are_hidden(isolated: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter2")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    hidden = [
        secret,
        REPOSITORY / "corpus",
        REPOSITORY / "pyproject.toml",
        "/etc/shadow",
        "/etc/hostname",
        "/var",
        "/run",
    ]
    for path in [*hidden, "~/.bashrc", "/home"]:
        done = run(isolated, f"cat {path} || ls {path}", workspace)
        assert "No such file" in done.output, path
        assert done.exit_code, path


@pytest.mark.sandbox
def test_nothing_but_the_workspace_and_tmp_is_writable(isolated: Sandbox, tmp_path: Path) -> None:
    places = ["/", "/usr", "/usr/bin", "/etc", "/dev", "/proc", "/sys", sys.prefix, sys.base_prefix]
    for place in places:
        done = run(isolated, f"echo x >{place}/ce-probe", tmp_path)
        assert done.exit_code, place
        assert not Path(place, "ce-probe").exists()
    assert run(isolated, "echo x >/tmp/a && echo x >/dev/shm/b && echo x >c", tmp_path).ok


@pytest.mark.sandbox
@pytest.mark.parametrize("gpu", [False, True])
def test_no_setting_of_the_kernel_can_be_written(isolated: Sandbox, tmp_path: Path, gpu: bool) -> None:
    """In a user namespace root still owns /proc/sys, with or without capabilities."""
    program = """
        import os
        for folder, folders, files in os.walk("/proc"):
            if folder == "/proc":
                folders[:] = [name for name in folders if not name.isdigit() and name != "self"]
            for name in files:
                try:
                    os.close(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_NONBLOCK))
                    print(os.path.join(folder, name))
                except OSError:
                    pass
        print(os.path.exists("/proc/sys/kernel/core_pattern"))
    """
    done = isolated.run(Job(python(program), tmp_path, gpu=gpu))
    assert done.output == "True\n"


@pytest.mark.sandbox
def test_processes_of_the_host_are_invisible(isolated: Sandbox, tmp_path: Path) -> None:
    done = run(isolated, "ls /proc | grep -c '^[0-9]'; kill -0 " + str(os.getpid()), tmp_path)
    assert int(done.output.split()[0]) <= 4
    assert done.exit_code


@pytest.mark.sandbox
def test_descriptors_of_the_evaluator_do_not_get_in(isolated: Sandbox, tmp_path: Path) -> None:
    stray = os.open(REPOSITORY, os.O_RDONLY)
    os.set_inheritable(stray, True)
    try:
        done = run(isolated, python("import os; print(*os.listdir('/proc/self/fd'))"), tmp_path)
    finally:
        os.close(stray)
    assert {int(number) for number in done.output.split()} <= {0, 1, 2, 3}


@pytest.mark.sandbox
def test_the_shell_that_carries_the_exit_code_is_out_of_reach(isolated: Sandbox, tmp_path: Path) -> None:
    program = """
        import ctypes, os, signal
        libc = ctypes.CDLL(None, use_errno=True)
        print("attach", libc.ptrace(16, 1, 0, 0))
        for name in ("mem", "environ", "fd/1", "exe"):
            try:
                open(f"/proc/1/{name}", "r+b" if name != "environ" else "rb")
                print("opened", name)
            except OSError:
                pass
        for number in range(1, 32):
            # dash ends on SIGINT, with 130; the others do nothing to process 1.
            if number not in (signal.SIGCHLD, signal.SIGINT):
                os.kill(1, number)
        raise SystemExit(9)
    """
    done = run(isolated, python(program), tmp_path)
    assert (done.exit_code, done.output) == (9, "attach -1\n")


@pytest.mark.sandbox
def test_refused_system_calls(isolated: Sandbox, tmp_path: Path) -> None:
    program = """
        import ctypes, errno, platform
        libc = ctypes.CDLL(None, use_errno=True)
        keyctl, io_uring = {"x86_64": (250, 425), "aarch64": (219, 425)}[platform.machine()]
        def refused(*call):
            ctypes.set_errno(0)
            return libc.syscall(*call) == -1 and ctypes.get_errno() == errno.EPERM
        print(refused(keyctl, 0, -3, 1), refused(io_uring, 1, 0))
        print(libc.unshare(0x10000000))
        import threading, subprocess
        thread = threading.Thread(target=print, args=("thread",)); thread.start(); thread.join()
        print(subprocess.call(["true"]))
    """
    done = run(isolated, python(program), tmp_path)
    assert done.output.split() == ["True", "True", "-1", "thread", "0"]


@pytest.mark.sandbox
def test_capabilities_and_privileges_are_gone(isolated: Sandbox, tmp_path: Path) -> None:
    done = run(isolated, "grep -E 'Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs' /proc/self/status", tmp_path)
    assert [line.split()[1].lstrip("0") for line in done.output.splitlines()] == ["", "", "", "", "1"]


@pytest.mark.sandbox
def test_read_only_paths(isolated: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "main.txt").write_text("author")
    (tmp_path / "header.h").write_text("author")
    attacks = [
        "echo x >test/main.txt",
        "rm test/main.txt",
        "mv test other",
        "touch test/new",
        "echo x >header.h",
        "rm -f header.h",
        "chmod 777 header.h",
        "ln -sf /tmp/x header.h",
    ]
    for attack in attacks:
        done = isolated.run(Job(attack, tmp_path, read_only=["test", "header.h"]))
        assert done.exit_code, attack
    assert (tmp_path / "test" / "main.txt").read_text() == (tmp_path / "header.h").read_text() == "author"
    assert (
        isolated.run(Job("echo x >mine; cat test/main.txt", tmp_path, read_only=["test"])).output == "author"
    )


@pytest.mark.sandbox
@pytest.mark.parametrize("trick", ["rm -r test; ln -s /etc test", "rm -r test", "mv test a; ln -s a test"])
def test_a_link_in_place_of_a_read_only_folder_is_a_violation(
    isolated: Sandbox, tmp_path: Path, trick: str
) -> None:
    (tmp_path / "test").mkdir()
    assert run(isolated, trick, tmp_path).ok
    done = isolated.run(Job("ls test/", tmp_path, read_only=["test"]))
    assert done.violation
    assert done.output == ""
    assert classify_test(done) is Outcome.SANDBOX_VIOLATION


@pytest.mark.sandbox
def test_links_in_the_workspace_lead_nowhere(isolated: Sandbox, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (tmp_path / "secret").write_text("hunter2")
    (workspace / "absolute").symlink_to(tmp_path / "secret")
    (workspace / "relative").symlink_to("../secret")
    done = run(isolated, "cat absolute relative; echo x >absolute; ls ..", workspace)
    assert "hunter2" not in done.output
    assert (tmp_path / "secret").read_text() == "hunter2"


@pytest.mark.sandbox
def test_tmp_is_limited(isolated: Sandbox, tmp_path: Path) -> None:
    done = run(isolated, "head -c 3000000 /dev/zero >/tmp/big", tmp_path, scratch_bytes=1 << 20)
    assert done.exit_code
    assert classify_test(done) is Outcome.DISK_LIMIT


@pytest.mark.sandbox
def test_words_of_bubblewrap_do_not_make_a_failure_the_machines(isolated: Sandbox, tmp_path: Path) -> None:
    done = run(isolated, "echo 'bwrap: Creating new namespace failed' >&2; exit 1", tmp_path)
    assert classify_test(done) is Outcome.TEST_FAILED


@pytest.mark.sandbox
def test_a_sandbox_that_cannot_be_made_is_the_machines_fault(isolated: Sandbox, tmp_path: Path) -> None:
    done = isolated.run(Job("true", tmp_path, env={"CE_SEED": "1"}, limits=Limits(scratch_bytes=-1)))
    assert done.spawn_error
    assert "bwrap" in done.spawn_error
    assert classify_test(done) is Outcome.INFRASTRUCTURE_ERROR


@pytest.mark.sandbox
def test_time_and_memory_of_the_command_are_counted(isolated: Sandbox, tmp_path: Path) -> None:
    program = "x = bytearray(300 << 20)\nimport time\nwhile time.process_time() < 0.3: pass"
    done = run(isolated, python(program), tmp_path)
    assert done.cpu_seconds >= 0.3
    assert 300 << 20 <= done.peak_memory_bytes < 420 << 20


@pytest.mark.sandbox
def test_memory_and_process_limits(isolated: Sandbox, tmp_path: Path) -> None:
    hog = python("import time\nx = [bytearray(10 << 20) for _ in range(20)]\ntime.sleep(60)")
    assert run(isolated, hog, tmp_path, memory_bytes=100 << 20).memory_limit_hit
    many = "i=0; while [ $i -lt 60 ]; do sleep 60 & i=$((i+1)); done; wait"
    done = run(isolated, many, tmp_path, processes=40, wall_seconds=10)
    assert not done.ok
    assert not done.timed_out


@pytest.mark.sandbox
def test_gpu_devices_come_only_on_request(isolated: Sandbox, tmp_path: Path) -> None:
    names = " ".join(str(path) for path in device_nodes([]))
    assert run(isolated, "ls /dev", tmp_path).output.split() == [
        "fd",
        "null",
        "random",
        "shm",
        "stderr",
        "stdin",
        "stdout",
        "urandom",
        "zero",
    ]
    done = isolated.run(Job(f"ls -d /sys/devices {names}", tmp_path, gpu=True))
    assert done.ok


# --- opening ---


def test_an_unknown_mode_is_a_usage_error() -> None:
    with pytest.raises(InputError, match="sandbox"):
        open_sandbox("sandbx")


def test_without_bubblewrap_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MachineLacksError) as caught:
        open_sandbox("sandbox")
    assert caught.value.exit_code is ExitCode.MACHINE_LACKS
    assert "apt-get install bubblewrap" in str(caught.value)


@pytest.mark.parametrize(
    "script", ["echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "kill -9 $$"]
)
def test_a_bubblewrap_that_cannot_work_is_explained(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(MachineLacksError) as caught:
        open_sandbox("sandbox")
    assert caught.value.fix


@pytest.mark.sandbox
def test_an_older_bubblewrap_does_without_the_size_of_tmp(
    needs_bubblewrap: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = tmp_path / "bwrap"
    refuse = 'case " $* " in *" --size "*) echo "bwrap: Unknown option --size" >&2; exit 1;; esac'
    old.write_text(f'#!/bin/sh\n{refuse}\nexec {shutil.which("bwrap")} "$@"\n')
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    sandbox = open_sandbox("sandbox")
    assert run(sandbox, "true", tmp_path).ok
    assert any(line.startswith("not enforced") and "/tmp" in line for line in sandbox.describe())
    sandbox.close()


@pytest.mark.sandbox
@pytest.mark.skipif(os.getuid() != 0, reason="not run: the tests run as an ordinary user already")
def test_an_ordinary_user_can_use_it(needs_bubblewrap: None, tmp_path: Path) -> None:
    """With whatever Python every user may run."""
    program = f"""
        import sys
        sys.path[:0] = [{str(REPOSITORY / "evaluator")!r}, {str(REPOSITORY / "schema")!r}]
        from pathlib import Path
        from ce_eval.sandbox import Job, Limits, open_sandbox
        job = Job("id -u; echo x >f; cat /proc/1/environ", Path({str(tmp_path)!r}))
        done = open_sandbox("sandbox").run(job)
        print(done.output, done.spawn_error)
    """
    for folder in (tmp_path, *tmp_path.parents):
        if folder == Path("/tmp"):
            break
        folder.chmod(0o777)
    usable = "import sys; sys.exit(sys.version_info < (3, 11))"
    if subprocess.run(["/usr/bin/python3", "-c", usable]).returncode:
        pytest.skip("not run: no Python of the system's")
    asked = subprocess.run(
        [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "/usr/bin/python3",
            "-c",
            textwrap.dedent(program),
        ],
        capture_output=True,
        text=True,
        cwd="/",
    )
    assert asked.returncode == 0, asked.stderr
    assert asked.stdout.splitlines()[0] == "65534"
    assert "Permission denied" in asked.stdout
    assert (tmp_path / "f").stat().st_uid == 65534


@pytest.mark.sandbox
@pytest.mark.parametrize("shell", ["bash", "dash", "busybox"])
def test_any_system_shell_will_do(
    needs_bubblewrap: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shell: str
) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"not run: no {shell}")
    monkeypatch.setattr("ce_eval.sandbox.skeleton._SYSTEM_SHELL", program)
    monkeypatch.setattr("ce_eval.sandbox.base._process_flag", lambda: "-u" if shell == "bash" else "-p")
    shell_script.cache_clear()
    sandbox = open_sandbox("sandbox")
    try:
        done = run(sandbox, "ulimit -f; sh -c 'kill -SEGV $$'", tmp_path, file_bytes=1 << 20)
        assert (done.output.split()[0], done.signal) == ("2048", 11)
        assert run(sandbox, "exit 3", tmp_path).exit_code == 3
    finally:
        sandbox.close()
        shell_script.cache_clear()


def test_the_root_folder_is_removed(
    needs_bubblewrap: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    sandbox = open_sandbox("sandbox")
    assert list(tmp_path.iterdir())
    sandbox.close()
    assert not list(tmp_path.iterdir())


# --- what is visible ---


def test_needed_roots_hold_this_python_and_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    roots = needed_roots()
    for prefix in (sys.prefix, sys.base_prefix):
        assert any(Path(prefix).is_relative_to(root) for root in [*roots, Path("/usr")])
    assert Path.home() not in roots
    assert Path("/") not in roots


def test_tools_in_a_home_bring_their_folder_and_not_the_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder in (".local/bin", "cuda/bin"):
        (tmp_path / folder).mkdir(parents=True)
    for tool in (".local/bin/ninja", "cuda/bin/nvcc"):
        (tmp_path / tool).write_text("#!/bin/sh\n")
        (tmp_path / tool).chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}/.local/bin:{tmp_path}/cuda/bin")
    mine = [path for path in needed_roots() if path.is_relative_to(tmp_path)]
    assert mine == [tmp_path / ".local/bin", tmp_path / "cuda"]


def test_shims_are_left_out_of_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/x/.pyenv/shims:/usr/bin:relative")
    folders = search_path()
    assert Path("/x/.pyenv/shims") not in folders
    assert Path("relative") not in folders
    assert folders[0] == Path(sys.prefix, "bin")


def test_the_filter_is_whole_instructions() -> None:
    for machine in ("x86_64", "aarch64"):
        with_sockets, without = (
            filter_program(sockets=sockets, machine=machine) for sockets in (True, False)
        )
        assert with_sockets
        assert without
        assert len(with_sockets) % 8 == 0
        assert len(without) - len(with_sockets) == 16
    assert filter_program(sockets=True, machine="vax") is None
