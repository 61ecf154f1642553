"""Compiled kernels: plain functions of arrays and scalars that know no graph and no model.

Functions that only other kernels call are compiled without the wrappers that Python and C would
call them by, which saves a tenth of the compile time.
"""
