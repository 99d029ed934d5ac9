"""Measurements that are printed, not asserted: `python -m benchmarks` runs all, `python -m benchmarks NAME` one."""
