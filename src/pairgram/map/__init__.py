"""The 2-D map of a model: coordinates, groups, html and png."""

from pairgram.map.build import Group, Map, make_map

__all__ = ["Group", "Map", "make_map"]
