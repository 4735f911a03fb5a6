"""Settings for all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Machines that run tests are shared and slow at times; a deadline would test the neighbours.
settings.register_profile("ce", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ce")
