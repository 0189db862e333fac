"""Reasons, said of the source: what a pass says of PTX, and who knows what of it.

A text is read once, into a :class:`ccc.compiler.reasons.reason.Reason`; an
:class:`ccc.compiler.reasons.inquiry.Inquiry` has that and all that is known of it. Those who know
more are listed in ``steps.py``, which also writes what is told in the end.
"""
