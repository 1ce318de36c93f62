#pragma once
// libvips takes its options as NULL-ended variable arguments, which Swift cannot call: one wrapper for each call made.
#include <gmodule.h>
#include <vips/vips.h>

/// Reads only the header of an image held in memory. NULL when no permitted loader accepts it.
static inline VipsImage *martlet_vips_open(const void *bytes, size_t count) {
  return vips_image_new_from_buffer(bytes, count, "", "access", VIPS_ACCESS_SEQUENTIAL, NULL);
}

/// Decodes, applies the EXIF orientation, converts to sRGB and reduces (never enlarges) to fit in or to cover the box.
/// Fails on an image that is cut short; as an option of the loader, for libvips 8.14 does not hand its own "fail_on" down.
/// `turns`: whether the EXIF orientation counts.
static inline int martlet_vips_thumbnail(
    const void *bytes, size_t count, VipsImage **out, int width, int height, int crop, int turns) {
  return vips_thumbnail_buffer(
      (void *)bytes, count, out, width, "height", height, "size", VIPS_SIZE_DOWN, "crop",
      crop ? VIPS_INTERESTING_CENTRE : VIPS_INTERESTING_NONE, "export_profile", "srgb", "no_rotate", !turns,
      "option_string", "[fail_on=truncated]", NULL);
}

/// As `martlet_vips_thumbnail`, for all frames of an animation (GIF or WebP), one below the other; fitted into the box.
static inline int martlet_vips_animated_thumbnail(
    const void *bytes, size_t count, VipsImage **out, int width, int height) {
  return vips_thumbnail_buffer(
      (void *)bytes, count, out, width, "height", height, "size", VIPS_SIZE_DOWN, "export_profile", "srgb",
      "option_string", "[n=-1,fail_on=truncated]", NULL);
}

/// Cuts the middle, `width` by `height` pixels, out of each frame of an animation.
static inline int martlet_vips_crop_frames(VipsImage *in, VipsImage **out, int width, int height) {
  int page_height = vips_image_get_page_height(in);
  int count = vips_image_get_height(in) / page_height;
  VipsImage **frames = g_new0(VipsImage *, count);
  int left = (vips_image_get_width(in) - width) / 2, top = (page_height - height) / 2, failed = 0;
  for (int i = 0; i < count && !failed; i++)
    failed = vips_extract_area(in, &frames[i], left, i * page_height + top, width, height, NULL);
  VipsImage *joined = NULL;
  if (!failed) failed = vips_arrayjoin(frames, &joined, count, "across", 1, NULL);
  if (!failed) failed = vips_copy(joined, out, NULL);
  if (!failed) vips_image_set_int(*out, VIPS_META_PAGE_HEIGHT, height);
  for (int i = 0; i < count; i++)
    if (frames[i]) g_object_unref(frames[i]);
  if (joined) g_object_unref(joined);
  g_free(frames);
  return failed;
}

/// Eight-bit sRGB, with or without alpha.
static inline int martlet_vips_eight_bit_sRGB(VipsImage *in, VipsImage **out) {
  VipsImage *colour = NULL;
  if (vips_colourspace(in, &colour, VIPS_INTERPRETATION_sRGB, NULL)) return -1;
  int result = vips_cast_uchar(colour, out, NULL);
  g_object_unref(colour);
  return result;
}

static inline int martlet_vips_save_jpeg(VipsImage *in, void **bytes, size_t *count, int quality) {
  return vips_jpegsave_buffer(
      in, bytes, count, "Q", quality, "strip", TRUE, "optimize_coding", TRUE, "interlace", FALSE, NULL);
}

static inline int martlet_vips_save_png(VipsImage *in, void **bytes, size_t *count) {
  return vips_pngsave_buffer(in, bytes, count, "compression", 6, "strip", TRUE, NULL);
}

/// All frames, with their times and the number of repeats, which are metadata of the image: so what else there is goes one by one.
static inline int martlet_vips_save_webp(VipsImage *in, void **bytes, size_t *count, int quality) {
  static const char *const rest[] = {VIPS_META_ICC_NAME, VIPS_META_EXIF_NAME, VIPS_META_XMP_NAME, VIPS_META_IPTC_NAME};
  for (size_t index = 0; index < sizeof rest / sizeof *rest; index++) vips_image_remove(in, rest[index]);
  return vips_webpsave_buffer(in, bytes, count, "Q", quality, "effort", 2, NULL);
}

static inline void martlet_vips_release(VipsImage *image) { g_object_unref(image); }

/// The name of the loader that accepts these bytes among those not blocked, NULL when none does.
static inline const char *martlet_vips_loader(const void *bytes, size_t count) {
  return vips_foreign_find_load_buffer(bytes, count);
}

/// VIPS_INIT is a macro.
static inline int martlet_vips_start(const char *program) { return VIPS_INIT(program); }

/// An address in the library itself.
static inline const void *martlet_vips_address(void) { return (const void *)(size_t)vips_init; }

/// Whether libheif says that it has no decoder for a codec: its `heif_compression_HEVC` is 1, `heif_compression_AV1` is 4. 0 if libheif
/// is not loaded. Asked of the loaded library, because libvips does not link to it everywhere.
static inline int martlet_heif_lacks_decoder(int codec) {
  GModule *loaded = g_module_open(NULL, G_MODULE_BIND_LAZY);
  void *symbol = NULL;
  if (!loaded || !g_module_symbol(loaded, "heif_have_decoder_for_format", &symbol) || !symbol) return 0;
  return !((int (*)(int))symbol)(codec);
}

/// Loads one of libvips' plug-ins, which lie in a folder beside the library. 0 if it is there; a libvips that has the format
/// built in needs none.
static inline int martlet_vips_load_module(const char *library, const char *name) {
  char *folder = g_path_get_dirname(library);
  char *path = g_strdup_printf("%s/vips-modules-%d.%d/%s.so", folder, vips_version(0), vips_version(1), name);
  GModule *module = g_module_open(path, G_MODULE_BIND_LAZY);
  if (module) g_module_make_resident(module);
  g_free(path);
  g_free(folder);
  return module ? 0 : -1;
}
