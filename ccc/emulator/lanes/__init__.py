"""Where lanes are: the launch's geometry, groups that go together, barriers."""
