"""Colours of groups, on paper and on screen: apart for most kinds of colour blindness too."""

PALETTE = (
    "#3b6fb6", "#e0833a", "#3d9a7d", "#b5506f", "#8c6fc4", "#b79b2b",
    "#3fa3c2", "#c9615a", "#6d9a3f", "#a8749f", "#8a7358", "#5b7fd6",
)  # fmt: skip
GREY = "#9aa0a8"
