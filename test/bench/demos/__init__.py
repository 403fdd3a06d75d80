"""One module per plugin's section of the demo; see ../common/demo.py."""
