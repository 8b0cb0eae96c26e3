"""NN queries at one instant, in plain Python, one module a query, found by its name.

Section 6.2.1: a result over time must be, at each instant, that of the static query. `REFERENCE` and `WHO`
are columns of the answer; `static(city, t)` gives who is nearest to each reference at t.
"""
