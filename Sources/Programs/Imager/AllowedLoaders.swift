import CVips

/// The class names of the libvips loaders that may run.
private let allowed: Set<String> = [
    "VipsForeignLoadJpegBuffer", "VipsForeignLoadPngBuffer", "VipsForeignLoadWebpBuffer",
    "VipsForeignLoadNsgifBuffer", "VipsForeignLoadHeifBuffer",
]

/// Blocks all loaders except those of the accepted formats, which can load from memory only.
func allowAcceptedLoadersOnly() {
    vips_block_untrusted_set(1)
    vips_operation_block_set("VipsForeignLoad", 1)
    for name in allowed { vips_operation_block_set(name, 0) }
}

/// Checks that all other loaders are blocked, by their classes and with a sample file of each risky format.
///
/// - Returns: The name of a loader or format that is not blocked; nil if the check succeeds.
func firstFormatNotBlocked() -> String? {
    final class Found { var name: String? }
    let found = Found()
    vips_type_map_all(
        g_type_from_name("VipsForeignLoad"),
        { type, context in
            guard let context, let text = g_type_name(type) else { return nil }
            let name = String(cString: text)
            if !allowed.contains(name), bookplate_vips_is_blocked(type) == 0 {
                Unmanaged<Found>.fromOpaque(context).takeUnretainedValue().name = name
            }
            return nil
        }, Unmanaged.passUnretained(found).toOpaque())
    if let name = found.name { return name }
    return blockedSamples.first { sample in
        let bytes = Array(sample.bytes.utf8)
        let picture = try? Picture { out in
            bytes.withUnsafeBytes { bookplate_vips_open($0.baseAddress, $0.count, "", out) }
        }
        return picture != nil
    }?.name
}

private let blockedSamples: [(name: String, bytes: String)] = [
    (
        "SVG",
        #"<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32"><rect width="9" height="9"/></svg>"#
    ),
    (
        "PDF",
        "%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
            + "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 32 32]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
    ),
    ("PPM", "P3\n2 2\n255\n0 0 0 9 9 9 0 0 0 9 9 9\n"),
    ("Matlab", "MATLAB 5.0 MAT-file" + String(repeating: " ", count: 109)),
    ("libvips' own format", "\u{08}\u{0F}\u{26}\u{36}" + String(repeating: "\u{01}", count: 60)),
    ("CSV", "1,2\n3,4\n"),
]
