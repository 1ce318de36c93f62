"""How screens look, roughly: the mean colours of 32 by 20 fields, compared with those of `looks.json`. It notices a part that is missing, stands elsewhere or has
the colours of another look; not a letter, whose shape depends on the machine's fonts.

MARTLET_ACCEPT_LOOKS=1 keeps what is there as what shall be."""
import base64
import json
import os
import time
import zlib

FIELDS = (32, 20)
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "looks.json")
ACCEPTS = os.environ.get("MARTLET_ACCEPT_LOOKS") == "1"
COMPARED = {"sign-in-light", "sign-in-dark", "desktop-light", "desktop-dark", "desktop-details-light", "desktop-details-dark", "phone-room-light",
            "phone-room-dark", "phone-list-light", "phone-list-dark", "phone-dialog-light", "arabic-light", "settings-contrast", "sign-in-offline", "export-offline",
            "large-text-360-menu-of-the-room", "avatars-light", "avatars-dark", "avatars-members-light", "avatars-person-light", "avatars-phone-members-light",
            "avatars-phone-room-light", "avatars-phone-room-dark", "avatars-phone-list-light", "avatars-phone-list-dark", "avatars-call", "avatars-call-phone",
            "avatars-call-speaker-phone"}
# What test_looks compares, in each shape: many, so each by fewer fields.
SCREENS, SCREEN_FIELDS = "screen-", (24, 15)
# A field is another one from so much difference in a colour (0 to 255) on; and so large a part of the fields may be.
COLOUR, SHARE = 7, 0.12

MEANS = """async ([image, width, height]) => {
  const bytes = Uint8Array.from(atob(image), character => character.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  const c = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d', { willReadFrequently: true });
  c.drawImage(bitmap, 0, 0);
  const { data } = c.getImageData(0, 0, bitmap.width, bitmap.height);
  const sums = new Float64Array(width * height * 4);
  for (let y = 0, at = 0; y < bitmap.height; y++) {
    const row = Math.floor(y * height / bitmap.height) * width;
    for (let x = 0; x < bitmap.width; x++, at += 4) {
      const field = (row + Math.floor(x * width / bitmap.width)) * 4;
      sums[field] += data[at]; sums[field + 1] += data[at + 1]; sums[field + 2] += data[at + 2]; sums[field + 3]++;
    }
  }
  const means = [];
  for (let field = 0; field < sums.length; field += 4) for (let k = 0; k < 3; k++) means.push(Math.round(sums[field + k] / sums[field + 3]));
  return means;
}"""


def zone():
    """Where it is past nine now: a message has less room beside a time of one digit more, and another look."""
    ahead = (9 - time.gmtime().tm_hour + 12) % 24 - 12
    return f"Etc/GMT{-ahead:+d}"


def known():
    if not os.path.exists(PATH):
        return {}
    with open(PATH, encoding="utf-8") as f:
        return json.load(f)


def share(one, other):
    """Which part of the fields differs."""
    fields = range(0, len(one), 3)
    return sum(max(abs(one[at + k] - other[at + k]) for k in range(3)) >= COLOUR for at in fields) / len(fields)


def packed(means):
    return base64.b64encode(zlib.compress(bytes(means), 9)).decode()


def unpacked(look):
    return zlib.decompress(base64.b64decode(look))


async def compare(page, name, image):
    """Whether a screenshot looks as it shall; others than those of COMPARED and of test_looks always do."""
    if name not in COMPARED and not name.startswith(SCREENS):
        return
    means = await page.evaluate(MEANS, [base64.b64encode(image).decode(), *(SCREEN_FIELDS if name.startswith(SCREENS) else FIELDS)])
    looks = known()
    if ACCEPTS:
        looks[name] = packed(means)
        with open(PATH, "w", encoding="utf-8") as f:
            json.dump(looks, f, indent=0, sort_keys=True)
            f.write("\n")
        return
    assert name in looks, f"{name} is not kept yet: look at {name}.png; if it shall look so, MARTLET_ACCEPT_LOOKS=1"
    different = share(means, unpacked(looks[name]))
    assert different <= SHARE, f"{name} looks different in {different:.0%} of its fields: see {name}.png; if it shall look so, MARTLET_ACCEPT_LOOKS=1"
