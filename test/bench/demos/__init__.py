"""One module per plugin's section of the demo; see ../demo.py."""
