#pragma once
#include <malloc.h>
#include <vips/vips.h>

// Typed wrappers of the libvips functions used here, which are variadic and cannot be called from Swift.
// They return 0, or -1 with the message in vips_error_buffer(). Release the images that they return with
// bookplate_vips_release.

int bookplate_vips_init(const char *name);

// Returns whether a loader class (its GType) is abstract or blocked, so that it cannot load anything.
int bookplate_vips_is_blocked(GType type);

// Reads only the header.
int bookplate_vips_open(const void *bytes, size_t count, const char *options, VipsImage **out);
// Decodes at the smallest scale that is sufficient for the box. The result is upright and in sRGB, and never enlarged.
int bookplate_vips_thumbnail(
    const void *bytes, size_t count, const char *options, VipsImage *header, int width, int height,
    VipsImage **out);
// Does the same for a JPEG, which is decoded at 1/divisor of its size: 1, 2, 4, or 8.
int bookplate_vips_thumbnail_jpeg(
    const void *bytes, size_t count, const char *options, int divisor, int width, int height,
    VipsImage **out);
// Shrinks to fit into the box; never enlarges or rotates.
int bookplate_vips_shrink(VipsImage *in, int width, int height, VipsImage **out);
int bookplate_vips_srgb(VipsImage *in, VipsImage **out);
int bookplate_vips_flatten_on_white(VipsImage *in, VipsImage **out);
int bookplate_vips_write_jpeg(VipsImage *in, int quality, void **bytes, size_t *count);

// Copies an image of three bands, which are red, green, and blue.
int bookplate_vips_rgb(const void *bytes, int width, int height, VipsImage **out);
// Renders centered Pango markup in four bands, the last of which is the opacity. Lines are wrapped between words, and inside
// of words only if breaks_words is not 0; otherwise, the image is wider than the width if a word does not fit.
int bookplate_vips_text(
    const char *text, const char *font, int width, int breaks_words, VipsImage **out);
// Renders the same markup, wrapped between words, as a mask of one band, which is faster.
int bookplate_vips_text_mask(const char *text, const char *font, int width, VipsImage **out);
// Returns how many characters of a text no font has.
int bookplate_vips_unknown_glyphs(const char *text);

void bookplate_vips_release(VipsImage *image);
