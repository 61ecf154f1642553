"""Compiled kernels: plain functions of arrays and scalars that know no graph and no model."""
