#include "CVips.h"
#include <pango/pangocairo.h>

int bookplate_vips_init(const char *name) { return VIPS_INIT(name); }

int bookplate_vips_is_blocked(GType type) {
    if (G_TYPE_IS_ABSTRACT(type)) return 1;
    VipsOperationClass *class = VIPS_OPERATION_CLASS(g_type_class_ref(type));
    int is_blocked = (class->flags & VIPS_OPERATION_BLOCKED) != 0;
    g_type_class_unref(class);
    return is_blocked;
}

int bookplate_vips_open(const void *bytes, size_t count, const char *options, VipsImage **out) {
    *out = vips_image_new_from_buffer(bytes, count, options, NULL);
    return *out ? 0 : -1;
}

// Converting a colour profile costs a pass over all pixels, so it is done only if there is one.
static int needs_profile(VipsImage *in) {
    return vips_image_get_typeof(in, VIPS_META_ICC_NAME) || in->Type == VIPS_INTERPRETATION_CMYK;
}

int bookplate_vips_thumbnail(
    const void *bytes, size_t count, const char *options, VipsImage *header, int width, int height,
    VipsImage **out) {
    // vips_thumbnail_buffer does not pass fail_on to the JPEG loader, but it passes the option string.
    return needs_profile(header)
        ? vips_thumbnail_buffer(
              (void *)bytes, count, out, width, "height", height, "size", VIPS_SIZE_DOWN,
              "option_string", options, "export_profile", "srgb",
              // All profiles have tables for this intent. Profiles of JPEG XYB have tables for no other intent.
              "intent", VIPS_INTENT_PERCEPTUAL, NULL)
        : vips_thumbnail_buffer(
              (void *)bytes, count, out, width, "height", height, "size", VIPS_SIZE_DOWN,
              "option_string", options, NULL);
}

int bookplate_vips_shrink(VipsImage *in, int width, int height, VipsImage **out) {
    double across = (double)in->Xsize / width, down = (double)in->Ysize / height;
    double factor = across > down ? across : down;
    if (factor <= 1) return vips_copy(in, out, NULL);
    // Neither side becomes zero. On average the cubic kernel differs from the Lanczos3 kernel of
    // vips_thumbnail by half a level of 255, and it takes three quarters of the time.
    double by_width = factor < in->Xsize ? factor : in->Xsize;
    double by_height = factor < in->Ysize ? factor : in->Ysize;
    return vips_resize(
        in, out, 1 / by_width, "vscale", 1 / by_height, "kernel", VIPS_KERNEL_CUBIC, NULL);
}

int bookplate_vips_thumbnail_jpeg(
    const void *bytes, size_t count, const char *options, int divisor, int width, int height,
    VipsImage **out) {
    VipsImage *shrunk = NULL, *kept = NULL;
    VipsImage *loaded = vips_image_new_from_buffer(
        bytes, count, options, "shrink", divisor, "access", VIPS_ACCESS_SEQUENTIAL, NULL);
    if (!loaded) return -1;
    int code;
    if (needs_profile(loaded)) {
        code = vips_thumbnail_image(
            loaded, out, width, "height", height, "size", VIPS_SIZE_DOWN, "export_profile", "srgb",
            "intent", VIPS_INTENT_PERCEPTUAL, NULL);
    } else {
        int is_on_side = vips_image_get_orientation(loaded) >= 5;
        // A sequentially decoded image can be rotated only when it is in memory, so shrink it first.
        code = bookplate_vips_shrink(
                loaded, is_on_side ? height : width, is_on_side ? width : height, &shrunk)
            || !(kept = vips_image_copy_memory(shrunk)) || vips_autorot(kept, out, NULL) ? -1 : 0;
    }
    bookplate_vips_release(loaded);
    bookplate_vips_release(shrunk);
    bookplate_vips_release(kept);
    return code;
}

int bookplate_vips_srgb(VipsImage *in, VipsImage **out) {
    return vips_colourspace(in, out, VIPS_INTERPRETATION_sRGB, NULL);
}

int bookplate_vips_flatten_on_white(VipsImage *in, VipsImage **out) {
    double white[] = {255, 255, 255};
    VipsArrayDouble *background = vips_array_double_new(white, 3);
    int code = vips_flatten(in, out, "background", background, NULL);
    vips_area_unref(VIPS_AREA(background));
    return code;
}

int bookplate_vips_write_jpeg(VipsImage *in, int quality, void **bytes, size_t *count) {
    return vips_jpegsave_buffer(
        in, bytes, count, "Q", quality, "strip", TRUE, "optimize_coding", TRUE, NULL);
}

int bookplate_vips_rgb(const void *bytes, int width, int height, VipsImage **out) {
    VipsImage *copied = vips_image_new_from_memory_copy(
        bytes, (size_t)3 * width * height, width, height, 3, VIPS_FORMAT_UCHAR);
    if (!copied) return -1;
    int code = vips_copy(copied, out, "interpretation", VIPS_INTERPRETATION_sRGB, NULL);
    bookplate_vips_release(copied);
    return code;
}

int bookplate_vips_text(
    const char *text, const char *font, int width, int breaks_words, VipsImage **out) {
    return vips_text(
        out, text, "font", font, "width", width, "dpi", 72, "align", VIPS_ALIGN_CENTRE, "rgba", TRUE,
        "wrap", breaks_words ? VIPS_TEXT_WRAP_WORD_CHAR : VIPS_TEXT_WRAP_WORD, NULL);
}

int bookplate_vips_text_mask(const char *text, const char *font, int width, VipsImage **out) {
    return vips_text(
        out, text, "font", font, "width", width, "dpi", 72, "wrap", VIPS_TEXT_WRAP_WORD, NULL);
}

int bookplate_vips_unknown_glyphs(const char *text) {
    PangoContext *context = pango_font_map_create_context(pango_cairo_font_map_get_default());
    PangoLayout *layout = pango_layout_new(context);
    pango_layout_set_text(layout, text, -1);
    int count = pango_layout_get_unknown_glyphs_count(layout);
    g_object_unref(layout);
    g_object_unref(context);
    return count;
}

void bookplate_vips_release(VipsImage *image) {
    if (image) g_object_unref(image);
}
