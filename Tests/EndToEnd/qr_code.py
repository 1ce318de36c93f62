"""Reads QR codes that a page has drawn: byte mode at error correction level M, of what nothing is damaged. ISO/IEC 18004:2015."""
import re

# Blocks, and codewords of data in all of them, of each version from 1 on.
BLOCKS = [(1, 16), (1, 28), (1, 44), (2, 64), (2, 86), (4, 108), (4, 124), (4, 154), (5, 182), (5, 216), (5, 254), (8, 290), (9, 334),
          (9, 365), (10, 415)]
QUIET = 4
MASKS = [lambda x, y: (x + y) % 2, lambda x, y: y % 2, lambda x, y: x % 3, lambda x, y: (x + y) % 3, lambda x, y: (x // 3 + y // 2) % 2,
         lambda x, y: x * y % 2 + x * y % 3, lambda x, y: (x * y % 2 + x * y % 3) % 2, lambda x, y: ((x + y) % 2 + x * y % 3) % 2]


def read_path(path, side):
    """The bytes of a code that is drawn by this path of SVG, in a box of so many modules with the quiet border."""
    dark = set()
    for run in filter(None, path.split("z")):
        x, y, width = map(int, re.findall(r"\d+", run)[:3])
        dark.update((x + step - QUIET, y - QUIET) for step in range(width))
    return read(dark, side - 2 * QUIET)


def read(dark, size):
    version = (size - 17) // 4
    mask = sum(((14 - bit, 8) in dark) << bit - 10 for bit in (10, 11, 12)) ^ (0x5412 >> 10 & 7)
    bits = [((x, y) in dark) ^ (MASKS[mask](x, y) == 0) for x, y in places(size, version)]
    codewords = [sum(bit << 7 - index for index, bit in enumerate(bits[start:start + 8])) for start in range(0, len(bits) - 7, 8)]
    data = joined(codewords, *BLOCKS[version - 1])
    text = "".join(format(byte, "08b") for byte in data)
    count_bits = 8 if version < 10 else 16
    assert text[:4] == "0100", "not in byte mode"
    count, start = int(text[4:4 + count_bits], 2), 4 + count_bits
    return bytes(int(text[start + 8 * index:start + 8 * index + 8], 2) for index in range(count))


def joined(codewords, blocks, total):
    """The data of all blocks, which lie interleaved; the last ones may have one more."""
    lengths = [total // blocks + (block >= blocks - total % blocks) for block in range(blocks)]
    parts, taken = [[] for _ in lengths], iter(codewords)
    for index in range(max(lengths)):
        for part, length in zip(parts, lengths):
            if index < length:
                part.append(next(taken))
    return sum(parts, [])


def places(size, version):
    """Where the bits of codewords lie, in their order."""
    right = size - 1
    while right > 0:
        right -= right == 6
        for step in range(size):
            for x in (right, right - 1):
                y = size - 1 - step if (right + 1) & 2 == 0 else step
                if not is_fixed(x, y, size, version):
                    yield x, y
        right -= 2


def is_fixed(x, y, size, version):
    last = size - 7
    if x == 6 or y == 6 or (x <= 8 and y <= 8) or (x >= size - 8 and y <= 8) or (x <= 8 and y >= size - 8):
        return True
    if version >= 7 and (size - 11 <= x < size - 8 and y < 6 or size - 11 <= y < size - 8 and x < 6):
        return True
    centres = alignments(size, version)
    return any(abs(x - a) <= 2 and abs(y - b) <= 2 for a in centres for b in centres
               if (a, b) not in ((6, 6), (6, last), (last, 6)))


def alignments(size, version):
    if version == 1:
        return []
    count = version // 7 + 2
    step = 0 if count < 2 else (version * 4 + count * 2 + 1) // (count * 2 - 2) * 2
    return [6, *(size - 7 - step * index for index in range(count - 1))]
