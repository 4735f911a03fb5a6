"""Which problems this machine cannot run, and why. Those are skipped, never failed."""

from __future__ import annotations

from ce_eval.machine import Gpu, Machine
from ce_schema.problem import Problem


def version_tuple(text: str) -> tuple[int, ...]:
    """``"13.1"`` as ``(13, 1)``, for comparison."""
    return tuple(int(part) for part in text.split("."))


def toolkit_reason(problem: Problem, machine: Machine) -> str | None:
    """Why ``machine`` cannot build ``problem``, or None when it can."""
    wanted = problem.min_cuda_toolkit
    if wanted is None and "nvcc" not in (problem.build_command or "").split():
        return None
    if machine.cuda_toolkit is None:
        return f"needs the CUDA toolkit{f' {wanted}' if wanted else ''}; this machine has none"
    if wanted is not None and version_tuple(machine.cuda_toolkit) < version_tuple(wanted):
        return f"needs CUDA toolkit {wanted}; this machine has {machine.cuda_toolkit}"
    return None


def skip_reason(problem: Problem, machine: Machine) -> str | None:
    """Why ``machine`` cannot run ``problem``, or None when it can."""
    if reason := toolkit_reason(problem, machine):
        return reason
    capability = problem.compute_capability
    if capability is None and not problem.requires_datacenter_gpu:
        return None
    if not machine.gpus:
        return f"needs a GPU; this machine has none ({machine.no_gpu_reason})"
    fitting = fitting_gpus(problem, machine)
    if fitting:
        return None
    best = max(machine.gpus, key=lambda gpu: version_tuple(gpu.compute_capability))
    if capability is not None and version_tuple(best.compute_capability) < version_tuple(capability):
        return f"needs compute capability {capability}; {best.name} has {best.compute_capability}"
    return f"needs a datacenter GPU; {best.name} is none"


def fitting_gpus(problem: Problem, machine: Machine) -> tuple[Gpu, ...]:
    """The GPUs of ``machine`` that ``problem`` may be tested on."""
    capability = problem.compute_capability
    return tuple(
        gpu
        for gpu in machine.gpus
        if (capability is None or version_tuple(gpu.compute_capability) >= version_tuple(capability))
        and (gpu.datacenter or not problem.requires_datacenter_gpu)
    )
