# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Says a number of bytes as `--human` of the program rocktier does."""


def human(number):
    """"60398 (59 KiB)", "69570 (67.9 KiB)": a tenth that is 0 is not said. From 1024 bytes on."""
    size, unit = number / 1024, 0
    while size >= 1024:
        size, unit = size / 1024, unit + 1
    return "%d (%s %siB)" % (number, ("%.1f" % size).removesuffix(".0"), "KMGT"[unit])
