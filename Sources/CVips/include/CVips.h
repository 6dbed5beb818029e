#pragma once
#include <malloc.h>
#include <vips/vips.h>

// The operations of libvips are variadic, which Swift cannot call: one typed function for each that is used.
// They answer 0, or -1 with the reason in vips_error_buffer(). What they hand out is released with
// bookplate_vips_release.

int bookplate_vips_init(const char *name);

// Whether a class of loader (its GType) is abstract or blocked, and so loads nothing.
int bookplate_vips_loads_nothing(GType type);

// Reads the header only.
int bookplate_vips_open(const void *bytes, size_t count, const char *options, VipsImage **out);
// Decodes at the least size that is enough for a box, upright and in sRGB; never enlarges.
int bookplate_vips_thumbnail(
    const void *bytes, size_t count, const char *options, VipsImage *header, int width, int height,
    VipsImage **out);
// As above, of a JPEG that is decoded at a half, a quarter or an eighth of its size.
int bookplate_vips_thumbnail_jpeg(
    const void *bytes, size_t count, const char *options, int divisor, int width, int height,
    VipsImage **out);
// Never enlarges, and turns nothing.
int bookplate_vips_shrink(VipsImage *in, int width, int height, VipsImage **out);
int bookplate_vips_srgb(VipsImage *in, VipsImage **out);
int bookplate_vips_flatten_on_white(VipsImage *in, VipsImage **out);
int bookplate_vips_write_jpeg(VipsImage *in, int quality, void **bytes, size_t *count);

// A canvas of one colour.
int bookplate_vips_canvas(int width, int height, const double rgb[3], VipsImage **out);
// Words as Pango sets them, in a box: a mask of one band.
int bookplate_vips_text(
    const char *text, const char *font, int width, int height, int spacing, VipsImage **out);
// Paints a colour through a mask at a place of the canvas.
int bookplate_vips_paint(
    VipsImage *canvas, VipsImage *mask, const double rgb[3], int left, int top, VipsImage **out);

void bookplate_vips_release(VipsImage *image);
