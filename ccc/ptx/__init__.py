"""The PTX language as data: types, special registers and the opcode table."""
