"""What a WebAssembly file is made of, for the scripts that change one. Source: WebAssembly Core Specification, "Binary Format".

Only what the page's program is made of is understood (Scripts/build-web says which features); anything else is a ValueError.
"""

TYPE, IMPORT, FUNCTION, EXPORT, START, ELEMENT, CODE, DATA = 1, 2, 3, 7, 8, 9, 10, 11
BRANCH_TABLE, CALL, CALL_INDIRECT, REAL32, REAL64, MORE = 0x0E, 0x10, 0x11, 0x43, 0x44, 0xFC
# local.get, local.set, local.tee
LOCALS = range(0x20, 0x23)
# Loads and stores: an alignment, which only hints, and an offset.
MEMORY = range(0x28, 0x3F)
# Blocks, branches, calls, variables, the size of memory, whole constants.
ONE_NUMBER = {0x02, 0x03, 0x04, 0x0C, 0x0D, CALL, *LOCALS, 0x23, 0x24, 0x3F, 0x40, 0x41, 0x42}
WITHOUT = {0x00, 0x01, 0x05, 0x0B, 0x0F, 0x1A, 0x1B, *range(0x45, 0xC5)}


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


def written(value):
    """The number as unsigned LEB128."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def skip(data, at, count=1):
    """Where as many numbers end."""
    for _ in range(count):
        while data[at] >= 0x80:
            at += 1
        at += 1
    return at


def sections(data):
    """Of each section its kind, where it begins, and what is in it, with which it ends."""
    at = 8
    while at < len(data):
        size, start = number(data, at + 1)
        yield data[at], at, data[start : start + size]
        at = start + size


def replaced(data, change):
    """The file with what `change(kind, content)` makes of each section."""
    out = bytearray(data[:8])
    for kind, _, content in sections(data):
        content = change(kind, content)
        out += bytes([kind]) + written(len(content)) + content
    return bytes(out)


def entries(section, length):
    """The entries of a section, each as long as the function says."""
    count, at = number(section, 0)
    for _ in range(count):
        end = length(section, at)
        yield section[at:end]
        at = end


def bodies(section):
    """The functions of the section with the code, without their sizes."""
    for entry in entries(section, body_end):
        yield entry[skip(entry, 0) :]


def body_end(section, at):
    size, start = number(section, at)
    return start + size


def code_section(functions):
    return written(len(functions)) + b"".join(written(len(body)) + body for body in functions)


def variables(body):
    """(the types of the variables that a function declares, where its instructions begin)"""
    types = bytearray()
    groups, at = number(body, 0)
    for _ in range(groups):
        count, at = number(body, at)
        types += body[at : at + 1] * count
        at += 1
    return types, at


def instructions(body):
    """Of each instruction: its code, where it begins, where what follows the code begins, where it ends."""
    at = variables(body)[1]
    while at < len(body):
        start, code = at, body[at]
        operands = at = at + 1
        if code in ONE_NUMBER:
            at = skip(body, at)
        elif code in MEMORY or code == CALL_INDIRECT:
            at = skip(body, at, 2)
        elif code == BRANCH_TABLE:
            count, at = number(body, at)
            at = skip(body, at, count + 1)
        elif code == REAL32:
            at += 4
        elif code == REAL64:
            at += 8
        elif code == MORE:
            more, at = number(body, at)
            # Saturating conversions; memory.copy; memory.fill.
            if more > 7 and more not in (10, 11):
                raise ValueError(f"instruction fc {more:x}")
            at += {10: 2, 11: 1}.get(more, 0)
        elif code not in WITHOUT:
            raise ValueError(f"instruction {code:x}")
        yield code, start, operands, at
