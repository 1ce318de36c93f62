"""A small PNG writer, so that no image has to lie in the repository."""
import struct
import zlib


def png(width, height, colour=(200, 30, 30)):
    """One colour; an opaque truecolour image."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = (b"\0" + bytes(colour) * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def size(image):
    """(width, height) of a PNG or a baseline JPEG."""
    if image[:4] == b"\x89PNG":
        return struct.unpack(">II", image[16:24])
    assert image[:2] == b"\xff\xd8", image[:8]
    position = 2
    while True:
        marker, length = image[position + 1], struct.unpack(">H", image[position + 2:position + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", image[position + 5:position + 9])
            return width, height
        position += 2 + length
