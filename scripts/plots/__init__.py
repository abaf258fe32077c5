"""Figures of attnprof CSV files. Run as scripts/plot."""

import contextlib
import os
import pathlib

# What a user's matplotlibrc asks for (LaTeX, a locale) need not be there. One in the current folder comes before the variable.
os.environ["MATPLOTLIBRC"] = os.devnull
here = os.getcwd()
os.chdir(pathlib.Path(__file__).parent)
with contextlib.suppress(ModuleNotFoundError):  # __main__ says what is missing
    import matplotlib  # noqa: F401
os.chdir(here)
