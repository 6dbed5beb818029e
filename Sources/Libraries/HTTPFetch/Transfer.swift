import CCurl
import Glibc

/// One request to one URL. Redirects are not followed.
struct Hop: Sendable {
    var url: String
    var host: String
    var method: FetchRequest.Method
    var headers: [(name: String, value: String)]
    var signature: AWSSignature?
    var timeoutMilliseconds: Int
    var connectTimeoutMilliseconds: Int
    var bodyBytesMax: Int
    var truncatesBody = false
}

/// A hop in flight: libcurl's easy handle and the data received so far. Accessed only by the loop's thread.
final class Transfer {
    /// The maximum size of all headers of a response, because older versions of libcurl do not limit it.
    static let headerBytesMax = 64 << 10

    private let easy: UnsafeMutableRawPointer
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var requestBody: [UInt8]
    private let hop: Hop
    private let policy: FetchPolicy
    private let continuation: CheckedContinuation<Result<FetchResponse, FetchError>, Never>

    private var headers: [(name: String, value: String)] = []
    private var headerBytes = 0
    private var body: [UInt8] = []
    private var overLimit = false
    private var refusedAddress = false

    /// Returns nil, after resuming the continuation, if libcurl has no memory for a handle.
    init?(
        _ hop: Hop, policy: FetchPolicy,
        continuation: CheckedContinuation<Result<FetchResponse, FetchError>, Never>
    ) {
        guard let easy = curl_easy_init() else {
            continuation.resume(
                returning: .failure(.failed(curlCode: CURLE_OUT_OF_MEMORY.rawValue)))
            return nil
        }
        self.easy = easy
        self.hop = hop
        self.policy = policy
        self.continuation = continuation
        switch hop.method {
        case .post(let body, _), .put(let body, _): requestBody = body
        case .get, .head, .delete: requestBody = []
        }
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(headerList)
    }

    /// Sets all options and adds the handle to `multi`; false if libcurl rejects any of that.
    func start(in multi: UnsafeMutableRawPointer) -> Bool {
        configure() && curl_multi_add_handle(multi, easy) == CURLM_OK
    }

    func remove(from multi: UnsafeMutableRawPointer) {
        curl_multi_remove_handle(multi, easy)
    }

    /// Identifies this transfer in the messages of the multi handle.
    var handle: UnsafeMutableRawPointer { easy }

    /// Resumes the waiting task with the outcome that libcurl reported. Must be called once.
    func finish(_ code: CURLcode) {
        // libcurl was told to stop when the body had reached its limit.
        if code == CURLE_OK || hop.truncatesBody && overLimit && code == CURLE_WRITE_ERROR {
            var status = 0
            _ = bookplate_curl_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
            var response = FetchResponse(
                status: status, headers: headers, body: body, url: hop.url)
            if policy.readsCertificates {
                let expiry = bookplate_curl_certificate_expiry(easy)
                response.certificateExpiry = expiry < 0 ? nil : Int(expiry)
            }
            continuation.resume(returning: .success(response))
        } else {
            continuation.resume(returning: .failure(error(for: code)))
        }
    }

    /// Resumes the waiting task with an error, without an outcome from libcurl.
    func fail(_ error: FetchError) {
        continuation.resume(returning: .failure(error))
    }

    private func error(for code: CURLcode) -> FetchError {
        switch code {
        case CURLE_WRITE_ERROR where overLimit, CURLE_FILESIZE_EXCEEDED: .tooLarge
        case CURLE_COULDNT_CONNECT where refusedAddress: .addressRefused
        case CURLE_COULDNT_CONNECT: .connectionFailed
        case CURLE_COULDNT_RESOLVE_HOST: .hostNotFound
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_URL_MALFORMAT: .invalidURL
        // The scheme was checked before, so this is a response without a status line (HTTP/0.9).
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .notHTTP
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR,
            CURLE_HTTP2, CURLE_HTTP2_STREAM:
            .interrupted
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
            .tlsFailed
        default: .failed(curlCode: code.rawValue)
        }
    }

    // MARK: Options

    private func configure() -> Bool {
        let me = Unmanaged.passUnretained(self).toOpaque()
        var okay = true
        func long(_ option: CURLoption, _ value: Int) {
            okay = bookplate_curl_set_long(easy, option, value) == CURLE_OK && okay
        }
        func string(_ option: CURLoption, _ value: String) {
            okay = bookplate_curl_set_string(easy, option, value) == CURLE_OK && okay
        }
        func pointer(_ option: CURLoption) {
            okay = bookplate_curl_set_pointer(easy, option, me) == CURLE_OK && okay
        }

        string(CURLOPT_URL, hop.url)
        string(CURLOPT_PROTOCOLS_STR, "http,https")
        string(CURLOPT_USERAGENT, policy.userAgent)
        // An empty proxy overrides http_proxy and similar variables. A proxy would open the connection
        // itself and thereby bypass the address check.
        string(CURLOPT_PROXY, "")
        string(CURLOPT_NOPROXY, "*")
        long(CURLOPT_NETRC, 0)
        long(CURLOPT_FOLLOWLOCATION, 0)
        long(CURLOPT_NOSIGNAL, 1)
        long(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let file = policy.authoritiesFile { string(CURLOPT_CAINFO, file) }
        if policy.readsCertificates { long(CURLOPT_CERTINFO, 1) }
        // No content encoding is requested or decoded, so the bytes counted are the bytes kept.
        long(CURLOPT_HTTP_CONTENT_DECODING, 0)
        long(CURLOPT_TIMEOUT_MS, hop.timeoutMilliseconds)
        long(CURLOPT_CONNECTTIMEOUT_MS, hop.connectTimeoutMilliseconds)
        // Otherwise a cancelled transfer would block the loop until its name resolution ends.
        long(CURLOPT_QUICK_EXIT, 1)
        if !hop.truncatesBody {
            okay =
                bookplate_curl_set_offset(
                    easy, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(hop.bodyBytesMax)) == CURLE_OK
                && okay
        }

        okay = bookplate_curl_set_sink(easy, CURLOPT_WRITEFUNCTION, receiveBody) == CURLE_OK && okay
        okay =
            bookplate_curl_set_sink(easy, CURLOPT_HEADERFUNCTION, receiveHeader) == CURLE_OK && okay
        okay = bookplate_curl_set_open_socket(easy, openSocket) == CURLE_OK && okay
        for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_OPENSOCKETDATA] {
            pointer(option)
        }
        if let signature = hop.signature {
            string(CURLOPT_AWS_SIGV4, "aws:amz:\(signature.region):\(signature.service)")
            string(CURLOPT_USERNAME, signature.accessKeyID)
            string(CURLOPT_PASSWORD, signature.secretAccessKey)
        }
        switch hop.method {
        case .get, .post: break
        case .head: long(CURLOPT_NOBODY, 1)
        case .put: string(CURLOPT_CUSTOMREQUEST, "PUT")
        case .delete: string(CURLOPT_CUSTOMREQUEST, "DELETE")
        }
        return okay && configureRequest()
    }

    private func configureRequest() -> Bool {
        var lines = hop.headers.map { "\($0.name): \($0.value)" }
        // libcurl signs all of these headers. A signed request has none that libcurl does not send or a proxy may change.
        if hop.signature == nil { lines.append("Accept-Encoding: identity") }
        var hasBody = false
        switch hop.method {
        case .post(_, let contentType), .put(_, let contentType):
            hasBody = true
            lines.append("Content-Type: \(contentType)")
            // Without a value, the header is not sent: do not wait for 100 Continue.
            if hop.signature == nil { lines.append("Expect:") }
        case .get, .head, .delete: break
        }
        for line in lines {
            guard let longer = curl_slist_append(headerList, line) else { return false }
            headerList = longer
        }
        guard bookplate_curl_set_list(easy, CURLOPT_HTTPHEADER, headerList) == CURLE_OK else {
            return false
        }
        guard hasBody else { return true }
        let count = curl_off_t(requestBody.count)
        // libcurl copies the body. Set the size first, or it would treat the body as null-terminated.
        return bookplate_curl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, count) == CURLE_OK
            && requestBody.withUnsafeMutableBytes { bytes in
                // An empty body has no address, so pass that of a byte that is not sent.
                var nothing: UInt8 = 0
                return withUnsafeMutableBytes(of: &nothing) { empty in
                    bookplate_curl_set_pointer(
                        easy, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress ?? empty.baseAddress)
                } == CURLE_OK
            }
    }

    // MARK: Received data

    /// Appends bytes of the body; false aborts the transfer.
    fileprivate func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= hop.bodyBytesMax - body.count else {
            overLimit = true
            if hop.truncatesBody {
                body.append(contentsOf: bytes.prefix(hop.bodyBytesMax - body.count))
            }
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    /// Adds a header line; false aborts the transfer.
    fileprivate func receive(header bytes: UnsafeRawBufferPointer) -> Bool {
        headerBytes += bytes.count
        guard headerBytes <= Self.headerBytesMax else {
            overLimit = true
            return false
        }
        // A status line starts another response; the previous one was interim (100, 103).
        if bytes.starts(with: "HTTP/".utf8) {
            headers.removeAll()
            return true
        }
        let line = bytes.drop { $0 == UInt8(ascii: " ") }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return true }
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0D, 0x0A]
        let value = line[(colon + 1)...].drop { blanks.contains($0) }
            .reversed().drop { blanks.contains($0) }.reversed()
        headers.append(
            (
                String(decoding: line[..<colon], as: UTF8.self),
                String(decoding: value, as: UTF8.self)
            )
        )
        return true
    }

    /// Opens a socket if the policy permits the address. On `CURL_SOCKET_BAD`, libcurl tries the next one.
    fileprivate func open(_ target: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        // The address may be longer than its declared field, so it is read in place.
        let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr)!  // stored, so it has an offset
        let raw = UnsafeRawPointer(target) + offset
        guard let (address, port) = IPAddress.from(raw, length: Int(target.pointee.addrlen)),
            policy.permits(address, port: port, host: hop.host)
        else {
            refusedAddress = true
            return CURL_SOCKET_BAD
        }
        let closedOnExec = Int32(SOCK_CLOEXEC.rawValue)
        return socket(
            target.pointee.family, target.pointee.socktype | closedOnExec, target.pointee.protocol)
    }
}

private func transfer(_ context: UnsafeMutableRawPointer) -> Transfer {
    Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
}

private let receiveBody: bookplate_curl_sink = { bytes, size, count, context in
    guard let context else { return 0 }
    let chunk = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer(context).receive(body: chunk) ? chunk.count : 0
}

private let receiveHeader: bookplate_curl_sink = { bytes, size, count, context in
    guard let context else { return 0 }
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer(context).receive(header: line) ? line.count : 0
}

private let openSocket: curl_opensocket_callback = { context, purpose, address in
    guard let context, let address, purpose == CURLSOCKTYPE_IPCXN else { return CURL_SOCKET_BAD }
    return transfer(context).open(address)
}
