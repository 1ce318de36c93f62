"""What a WebAssembly file is made of, for the scripts that change one. Source: WebAssembly Core Specification, "Binary Format"."""

IMPORT, FUNCTION, EXPORT, START, ELEMENT, CODE, DATA = 2, 3, 7, 8, 9, 10, 11


def number(data, at):
    """(an unsigned LEB128 number, where it ends)"""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def sections(data):
    """Of each section its kind, where it begins, and what is in it, with which it ends."""
    at = 8
    while at < len(data):
        size, start = number(data, at + 1)
        yield data[at], at, data[start : start + size]
        at = start + size
