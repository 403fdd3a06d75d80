"""One module per benchmark; see ../harness.py."""
