"""The intermediate representation: PTX itself, as objects."""
