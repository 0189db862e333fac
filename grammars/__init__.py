"""Grammars for Lark: PTX and the annotation language."""
