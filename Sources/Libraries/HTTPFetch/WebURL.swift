import CCurl

/// A validated absolute `http` or `https` URL. libcurl parses it, so that the URL that is checked is also the
/// one that is connected to.
package struct WebURL: Equatable {
    /// The maximum length; longer URLs are rejected.
    static let bytesMax = 8192

    package let text: String
    package let scheme: String
    package let host: String
    package let port: String

    /// Parses and validates a URL.
    ///
    /// - Parameter base: The URL that a relative `text`, from a redirect, refers to.
    package init(_ text: String, relativeTo base: WebURL? = nil) throws(FetchError) {
        guard text.utf8.count <= Self.bytesMax, !text.utf8.contains(0), let handle = curl_url()
        else { throw .invalidURL }
        defer { curl_url_cleanup(handle) }
        // Some servers redirect to paths with unencoded spaces or UTF-8, which browsers encode.
        let flags = UInt32(CURLU_DISALLOW_USER) | (base == nil ? 0 : UInt32(CURLU_URLENCODE))
        if let base, curl_url_set(handle, CURLUPART_URL, base.text, 0) != CURLUE_OK {
            throw .invalidURL
        }
        guard curl_url_set(handle, CURLUPART_URL, text, flags) == CURLUE_OK,
            curl_url_set(handle, CURLUPART_FRAGMENT, nil, 0) == CURLUE_OK
        else { throw .invalidURL }
        guard let whole = Self.part(CURLUPART_URL, of: handle),
            let scheme = Self.part(CURLUPART_SCHEME, of: handle),
            let host = Self.part(CURLUPART_HOST, of: handle),
            let port = Self.part(CURLUPART_PORT, of: handle, UInt32(CURLU_DEFAULT_PORT))
        else { throw .invalidURL }
        guard scheme == "http" || scheme == "https", !host.isEmpty,
            Self.part(CURLUPART_USER, of: handle) == nil,
            Self.part(CURLUPART_ZONEID, of: handle) == nil,
            host.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .invalidURL }
        self.text = whole
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// The address that a redirect on the same origin leads to; nil for another origin and for an invalid address.
    package static func redirect(from url: String, to location: String) -> String? {
        guard let url = try? WebURL(url), let next = try? WebURL(location, relativeTo: url),
            next.hasSameOrigin(as: url)
        else { return nil }
        return next.text
    }

    /// Returns whether scheme, host, and port are the same.
    func hasSameOrigin(as other: WebURL) -> Bool {
        scheme == other.scheme && port == other.port && equalIgnoringCase(host, other.host)
    }

    private static func part(
        _ part: CURLUPart, of handle: OpaquePointer, _ flags: UInt32 = 0
    ) -> String? {
        var found: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &found, flags) == CURLUE_OK, let found else { return nil }
        defer { curl_free(found) }
        return String(validatingCString: found)
    }
}
