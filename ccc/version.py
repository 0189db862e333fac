"""The version of ccc; part of every report and cache key."""

VERSION = "0.1.0"
