"""One module per benchmark; see ../common/harness.py."""
