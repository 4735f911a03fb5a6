"""Facts about the machine: what is parsed from where, and that asking leaves no trace."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ce_eval import machine
from ce_eval.machine import TOOLS, find_tool, gpus_from, is_datacenter, probe


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA H200",
        "NVIDIA H100 80GB HBM3",
        "NVIDIA H100 NVL",
        "NVIDIA H20",
        "NVIDIA A100-SXM4-80GB",
        "NVIDIA A100 80GB PCIe MIG 1g.10gb",
        "NVIDIA A30",
        "NVIDIA A10G",
        "NVIDIA L4",
        "NVIDIA L40S",
        "NVIDIA B200",
        "NVIDIA GB200",
        "NVIDIA GH200 480GB",
        "Tesla T4",
        "Tesla V100-SXM2-16GB",
        "NVIDIA RTX PRO 6000 Blackwell Server Edition",
    ],
)
def test_datacenter_gpus(name: str) -> None:
    assert is_datacenter(name)


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA GeForce RTX 4090",
        "NVIDIA GeForce RTX 3080 Laptop GPU",
        "NVIDIA RTX A6000",
        "NVIDIA RTX 6000 Ada Generation",
        "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
        "NVIDIA T400",
        "NVIDIA T1000",
        "Quadro RTX 8000",
        "Quadro P400",
        "NVIDIA TITAN V",
        "Orin",
        "NVIDIA GB10",
    ],
)
def test_other_gpus(name: str) -> None:
    assert not is_datacenter(name)


ROWS = [
    ["NVIDIA H200", 9, 0, 150 << 30, "0123456789abcdef0123456789abcdef"],
    ["NVIDIA T1000", 7, 5, 4 << 30, "f" * 32],
]


def test_gpus_from_the_drivers_answer() -> None:
    first, second = gpus_from(
        ROWS, {"GPU-01234567-89ab-cdef-0123-456789abcdef": 3, "GPU-ffffffff-ffff-ffff-ffff-ffffffffffff": 0}
    )
    assert (first.index, first.name, first.compute_capability, first.memory_bytes) == (
        0,
        "NVIDIA H200",
        "9.0",
        150 << 30,
    )
    assert (first.uuid, first.minor, first.datacenter) == (
        "GPU-01234567-89ab-cdef-0123-456789abcdef",
        3,
        True,
    )
    assert (second.index, second.compute_capability, second.minor, second.datacenter) == (1, "7.5", 0, False)


def test_a_part_of_a_gpu_has_a_mig_uuid() -> None:
    (gpu, _) = gpus_from(ROWS, {"GPU-aaaaaaaa-ffff-ffff-ffff-ffffffffffff": 0})
    assert gpu.uuid.startswith("MIG-")
    assert gpu.minor is None
    assert gpus_from(ROWS, {})[0].uuid.startswith("GPU-")


def test_the_probe_gives_gpus_or_a_reason() -> None:
    found = probe()
    assert bool(found.gpus) != bool(found.no_gpu_reason)
    assert probe() is found
    assert "libcuda" not in Path("/proc/self/maps").read_text()


def test_a_machine_without_a_driver_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        machine, "_ASK_DRIVER", machine._ASK_DRIVER.replace("libcuda.so.1", "libno-such.so.1")
    )
    gpus, reason = machine.find_gpus()
    assert gpus == ()
    assert reason is not None
    assert reason.count("libno-such.so.1") == 1


@pytest.mark.parametrize(
    "program", ["import time; time.sleep(60)", "print('no json')", "import os; os.abort()"]
)
def test_a_driver_that_misbehaves_is_a_reason(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(machine, "_ASK_DRIVER", program)
    monkeypatch.setattr(machine, "_QUERY_SECONDS", 0.5)
    gpus, reason = machine.find_gpus()
    assert gpus == ()
    assert reason


def fake(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


def test_nvcc_of_cuda_home_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    release = "echo 'Cuda compilation tools, release 12.9, V12.9.41'"
    mine = fake(tmp_path / "cuda" / "bin", "nvcc", release)
    fake(tmp_path / "path", "nvcc", "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path / "path"), prepend=":")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    assert machine.find_nvcc() == str(mine)
    assert machine.toolkit_version(str(mine)) == "12.9"
    monkeypatch.delenv("CUDA_HOME")
    assert machine.find_nvcc() == str(tmp_path / "path" / "nvcc")
    assert machine.toolkit_version(str(tmp_path / "path" / "nvcc")) is None


def test_every_tool_is_found_with_its_version_or_missing_with_a_hint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = {
        "nvcc": "Cuda compilation tools, release 13.0, V13.0.88",
        "g++": "g++ (Debian 12.2.0-14+deb12u1) 12.2.0",
        "bwrap": "bubblewrap 0.8.0",
        "podman": "podman version 4.3.1",
        "docker": "Docker version 20.10.24+dfsg1, build 297e128",
        "compute-sanitizer": "NVIDIA (R) Compute Sanitizer\nVersion 2025.3.1.0 (build 1)",
        "ncu": "NVIDIA (R) Nsight Compute\nVersion 2025.3.1.0 (build 2) (public-release)",
        "nvdisasm": "nvdisasm: NVIDIA (R) CUDA disassembler\nCuda compilation tools, release 13.0, V13.0.85",
        "cuobjdump": "cuobjdump: NVIDIA (R)\nCuda compilation tools, release 13.0, V13.0.85",
    }
    assert set(words) == set(TOOLS)
    for name, text in words.items():
        fake(tmp_path, name, f"echo '{text}'")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(variable, raising=False)
    versions = {name: find_tool(name).version for name in TOOLS}
    assert versions == {
        "nvcc": "13.0",
        "g++": "12.2.0",
        "bwrap": "0.8.0",
        "podman": "4.3.1",
        "docker": "20.10.24",
        "compute-sanitizer": "2025.3.1",
        "ncu": "2025.3.1",
        "nvdisasm": "13.0",
        "cuobjdump": "13.0",
    }
    monkeypatch.setattr(machine, "find_nvcc", lambda: None)
    monkeypatch.setenv("PATH", "/nowhere")
    for name in TOOLS:
        tool = find_tool(name)
        assert (tool.path, tool.version) == (None, None)
        assert tool.install_hint


def test_the_driver_version_is_a_version_or_nothing() -> None:
    version = machine.driver_version()
    assert version is None or re.fullmatch(r"\d+\.\d+(\.\d+)?", version)


def test_a_toolkit_from_wheels_is_told_where_its_libraries_are(tmp_path, monkeypatch):
    from ce_eval.sandbox.base import allowed_environment

    root = tmp_path / "nvidia" / "cu13"
    for name in ("bin/nvcc", "lib/libcudart_static.a"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (root / "bin/nvcc").chmod(0o755)
    monkeypatch.setenv("CUDA_HOME", str(root))
    monkeypatch.setenv("LIBRARY_PATH", "/elsewhere")
    assert allowed_environment()["LIBRARY_PATH"] == f"/elsewhere:{root / 'lib'}"
    (root / "lib/libcudart_static.a").unlink()
    assert allowed_environment()["LIBRARY_PATH"] == "/elsewhere"
