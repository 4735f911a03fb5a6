"""What this machine has: GPUs and driver, CUDA toolkit, tools. Looked up when asked for, once."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_QUERY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU as the CUDA driver shows it.

    Attributes:
        index: its number among the GPUs that CUDA_VISIBLE_DEVICES shows, ordered by PCI bus.
        name: such as "NVIDIA H200".
        compute_capability: such as "9.0".
        memory_bytes: device memory.
        uuid: "GPU-…", or "MIG-…" for a part of one; fit for CUDA_VISIBLE_DEVICES.
        datacenter: whether NVIDIA sells it for data centers.
        minor: n of its device file /dev/nvidia<n>, where the driver tells.
    """

    index: int
    name: str
    compute_capability: str
    memory_bytes: int
    uuid: str
    datacenter: bool
    minor: int | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides which problems can run here.

    Attributes:
        gpus: the GPUs CUDA programs see; empty without one.
        no_gpu_reason: why there is none, or None.
        driver: version of the NVIDIA kernel driver, or None.
        cuda_toolkit: "major.minor" of nvcc, or None.
        nvcc: path of nvcc, or None.
    """

    gpus: tuple[Gpu, ...]
    no_gpu_reason: str | None
    driver: str | None
    cuda_toolkit: str | None
    nvcc: str | None


@functools.cache
def probe() -> Machine:
    """The facts about this machine; asked once a process."""
    gpus, reason = find_gpus()
    nvcc = find_nvcc()
    return Machine(gpus, reason, driver_version(), toolkit_version(nvcc) if nvcc else None, nvcc)


# --- GPUs ---

# Names as the driver reports them. Data-center products are named by one or two letters for the
# architecture and a number; older ones say Tesla, and the server edition of a workstation card says so.
# GeForce, RTX, Quadro, TITAN and Jetson (Orin, Thor) are none.
_DATACENTER = re.compile(
    r"""\b(?:
        H20 | G?[BH]\d{3}              # H100, H200, H800, B200, B300, GH200, GB200, GB300; not GB10
      | A(?:2|10|10G|10M|16|30|40|100|800)
      | L(?:2|4|20|40|40S|40G)
      | T4G?
      | [VPKM]\d{1,3}[A-Z]?            # V100, P100, P40, K80, M60
    )\b
    | \bTesla\b | \bServer\ Edition\b
    """,
    re.VERBOSE,
)
_WORKSTATION = re.compile(
    r"\b(?:GeForce|Quadro|TITAN|Laptop|Max-Q)\b|\bRTX\b(?!.*Server Edition)", re.IGNORECASE
)


def is_datacenter(name: str) -> bool:
    """Whether a GPU of this name is sold for data centers."""
    return bool(_DATACENTER.search(name)) and not _WORKSTATION.search(name)


# Runs in a process of its own: once started, the driver keeps descriptors, threads and memory until exit, and
# a process forked after that cannot use CUDA. Prints one JSON document.
_ASK_DRIVER = """
import ctypes, json, sys
def out(**facts):
    print(json.dumps(facts)); sys.exit()
try:
    cuda = ctypes.CDLL("libcuda.so.1")
except OSError as error:
    told = str(error).removeprefix("libcuda.so.1: ")
    out(reason=f"libcuda.so.1 cannot be loaded: {told}")
def name_of(code):
    text = ctypes.c_char_p()
    known = cuda.cuGetErrorString(code, ctypes.byref(text)) == 0
    return text.value.decode() if known and text.value else f"error {code}"
code = cuda.cuInit(0)
if code:
    out(reason=f"the CUDA driver does not start: {name_of(code)}")
count = ctypes.c_int()
code = cuda.cuDeviceGetCount(ctypes.byref(count))
if code or count.value == 0:
    out(reason=f"the CUDA driver counts no GPU: {name_of(code) if code else 'none is visible'}")
get_uuid = getattr(cuda, "cuDeviceGetUuid_v2", None) or cuda.cuDeviceGetUuid
get_memory = getattr(cuda, "cuDeviceTotalMem_v2", None) or cuda.cuDeviceTotalMem
gpus = []
for index in range(count.value):
    name = ctypes.create_string_buffer(256)
    uuid = (ctypes.c_ubyte * 16)()
    major, minor, memory = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
    cuda.cuDeviceGetName(name, 256, index)
    get_uuid(ctypes.byref(uuid), index)
    get_memory(ctypes.byref(memory), index)
    cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, index)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, index)
    gpus.append([name.value.decode(), major.value, minor.value, memory.value, bytes(uuid).hex()])
out(gpus=gpus)
"""


def find_gpus() -> tuple[tuple[Gpu, ...], str | None]:
    """The GPUs that CUDA programs see here, and, where there is none, the reason."""
    env = {**os.environ, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    try:
        asked = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _ASK_DRIVER],
            capture_output=True,
            timeout=_QUERY_SECONDS,
            check=True,
            env=env,
        )
        facts = json.loads(asked.stdout)
    except subprocess.TimeoutExpired:
        return (), f"the CUDA driver did not answer within {_QUERY_SECONDS:.0f} s"
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        return (), f"asking the CUDA driver failed: {error}"
    return gpus_from(facts.get("gpus", []), _device_minors()), facts.get("reason")


def gpus_from(rows: list[list[Any]], minors: dict[str, int]) -> tuple[Gpu, ...]:
    """GPUs from the driver's answer: name, major and minor of the capability, memory, UUID in hex digits.

    A UUID that ``minors`` does not list belongs to a part of a GPU (MIG), if it lists any.
    """
    gpus = []
    for index, (name, major, minor, memory, digits) in enumerate(rows):
        groups = "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])
        uuid = f"MIG-{groups}" if minors and f"GPU-{groups}" not in minors else f"GPU-{groups}"
        gpus.append(Gpu(index, name, f"{major}.{minor}", memory, uuid, is_datacenter(name), minors.get(uuid)))
    return tuple(gpus)


def _device_minors() -> dict[str, int]:
    """The minor number of each GPU's device file, by UUID, as the kernel driver lists them."""
    minors = {}
    for information in Path("/proc/driver/nvidia/gpus").glob("*/information"):
        text = information.read_text(encoding="utf-8", errors="replace")
        uuid = re.search(r"^GPU UUID:\s*(GPU-\S+)", text, re.MULTILINE)
        minor = re.search(r"^Device Minor:\s*(\d+)", text, re.MULTILINE)
        if uuid and minor:
            minors[uuid[1]] = int(minor[1])
    return minors


def driver_version() -> str | None:
    """Version of the loaded NVIDIA kernel driver, such as "580.82.07", or None."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = re.search(r"\b(\d{3,}\.\d+(?:\.\d+)?)\b", text)
    return found[1] if found else None


# --- CUDA toolkit ---


def find_nvcc() -> str | None:
    """Path of the nvcc that commands would run: CUDA_HOME, CUDA_PATH, PATH, then the usual places."""
    places = [Path(root, "bin") for name in ("CUDA_HOME", "CUDA_PATH") if (root := os.environ.get(name))]
    places += [Path(folder) for folder in os.get_exec_path()]
    places += [Path("/usr/local/cuda/bin"), *_wheel_toolkits()]
    return shutil.which("nvcc", path=os.pathsep.join(map(str, places)))


def _wheel_toolkits() -> list[Path]:
    """The bin folders of CUDA toolkits installed as Python packages, newest first."""
    packages = [Path(folder, "nvidia") for folder in sys.path if folder.endswith("-packages")]
    return sorted((path for root in packages for path in root.glob("cu*/bin")), reverse=True)


def wheel_libraries() -> Path | None:
    """The library folder of a CUDA toolkit installed as Python packages, where its nvcc is the one in use.

    Such an nvcc finds its headers and tools, but not the libraries it links by default.
    """
    nvcc = find_nvcc()
    root = Path(nvcc).resolve().parents[1] if nvcc else None
    if root is None or root.parent.name != "nvidia" or not (root / "lib" / "libcudart_static.a").is_file():
        return None
    return root / "lib"


@functools.cache
def toolkit_version(nvcc: str) -> str | None:
    """ "major.minor" of an nvcc, or None where it does not say."""
    try:
        asked = subprocess.run(
            [nvcc, "--version"], capture_output=True, text=True, timeout=_QUERY_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"release (\d+\.\d+)", asked.stdout)
    return found[1] if found else None


# --- Tools ---


@dataclass(frozen=True, slots=True)
class ToolKind:
    """A program the toolkit can use: what for, how it states its version, how to get it."""

    name: str
    used_for: str
    install_hint: str
    version_pattern: str = r"(\d+\.\d+(?:\.\d+)*)"
    version_flag: str = "--version"


@dataclass(frozen=True, slots=True)
class Tool:
    """A program as found here; ``path`` and ``version`` are None where it is missing or does not say."""

    name: str
    path: str | None
    version: str | None
    used_for: str
    install_hint: str


TOOLS: dict[str, ToolKind] = {
    kind.name: kind
    for kind in (
        ToolKind(
            "nvcc",
            "building CUDA C++ problems",
            "pip install 'compute-eval-sdk[toolkit]', or NVIDIA's cuda-toolkit package",
            r"release (\d+\.\d+)",
        ),
        ToolKind("g++", "host compiler of nvcc", "apt-get install g++"),
        ToolKind("bwrap", "--mode sandbox", "apt-get install bubblewrap"),
        ToolKind("podman", "containers, in a later version", "apt-get install podman"),
        ToolKind("docker", "containers, in a later version", "https://docs.docker.com/engine/install"),
        ToolKind(
            "compute-sanitizer",
            "sanitizer stages",
            "pip install 'compute-eval-sdk[toolkit]', or NVIDIA's cuda-sanitizer package",
            r"Version (\d+\.\d+\.\d+)",
        ),
        ToolKind("ncu", "hardware counters", "NVIDIA Nsight Compute", r"Version (\d+\.\d+\.\d+)"),
        ToolKind(
            "nvdisasm", "reading machine code", "pip install nvidia-cuda-nvdisasm", r"release (\d+\.\d+)"
        ),
        ToolKind(
            "cuobjdump", "reading machine code", "pip install nvidia-cuda-cuobjdump", r"release (\d+\.\d+)"
        ),
    )
}
"""Every tool that `find_tool` knows, by name."""


def find_tool(name: str) -> Tool:
    """Where a tool of `TOOLS` is and which version; runs it once to ask."""
    kind = TOOLS[name]
    path = find_nvcc() if name == "nvcc" else _find_program(name)
    return Tool(name, path, _version(path, kind) if path else None, kind.used_for, kind.install_hint)


def _find_program(name: str) -> str | None:
    """A program on PATH, else beside nvcc."""
    nvcc = find_nvcc()
    return shutil.which(name) or (shutil.which(name, path=Path(nvcc).resolve().parent) if nvcc else None)


def _version(path: str, kind: ToolKind) -> str | None:
    try:
        asked = subprocess.run(
            [path, kind.version_flag],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_QUERY_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(kind.version_pattern, asked.stdout.decode(errors="replace"))
    return found[1] if found else None
