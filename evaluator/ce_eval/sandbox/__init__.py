"""Where commands run: sandboxes, their limits, and the supervision they share."""

from ce_eval.sandbox.base import SANDBOXES, Job, Sandbox, open_sandbox
from ce_eval.sandbox.supervise import Cancel, Completed, Limits, Supervisor

__all__ = ["SANDBOXES", "Cancel", "Completed", "Job", "Limits", "Sandbox", "Supervisor", "open_sandbox"]
