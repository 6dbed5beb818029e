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

// Creates a canvas of one colour.
int bookplate_vips_canvas(int width, int height, const double rgb[3], VipsImage **out);
// Renders Pango markup that is wrapped to the box, as a mask of one band.
int bookplate_vips_text(
    const char *text, const char *font, int width, int height, int spacing, VipsImage **out);
// Paints a colour through a mask at a position on the canvas.
int bookplate_vips_paint(
    VipsImage *canvas, VipsImage *mask, const double rgb[3], int left, int top, VipsImage **out);

void bookplate_vips_release(VipsImage *image);
