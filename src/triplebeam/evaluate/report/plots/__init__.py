"""Plots as SVG: numbers in, markup out. Colours come from the page's style sheet, by class."""
