import CCurl
import Glibc

/// One hop: a request to one URL, with no redirect followed.
struct Hop: Sendable {
    var url: String
    var host: String
    var method: FetchRequest.Method
    var headers: [(name: String, value: String)]
    var timeoutMilliseconds: Int
    var connectTimeoutMilliseconds: Int
    var bodyBytesMax: Int
}

/// A hop under way: libcurl's easy handle and what has arrived. Touched by the loop's thread only.
final class Transfer {
    /// All headers of one answer together; libcurl of that age sets no limit itself.
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

    /// Nil when libcurl has no memory for it; the continuation is then answered.
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
        if case .post(let body, _) = hop.method { requestBody = body } else { requestBody = [] }
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(headerList)
    }

    /// Sets every option and adds the handle to `multi`; false when libcurl refuses.
    func start(in multi: UnsafeMutableRawPointer) -> Bool {
        configure() && curl_multi_add_handle(multi, easy) == CURLM_OK
    }

    func remove(from multi: UnsafeMutableRawPointer) {
        curl_multi_remove_handle(multi, easy)
    }

    /// What identifies this transfer among the multi handle's messages.
    var handle: UnsafeMutableRawPointer { easy }

    /// Answers the waiting task. Called once.
    func finish(_ code: CURLcode) {
        if code == CURLE_OK {
            var status = 0
            _ = bookplate_curl_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
            let response = FetchResponse(
                status: status, headers: headers, body: body, url: hop.url)
            continuation.resume(returning: .success(response))
        } else {
            continuation.resume(returning: .failure(error(for: code)))
        }
    }

    /// Answers the waiting task without libcurl's verdict.
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
        // The scheme has been checked, so this is an answer without a status line (HTTP/0.9).
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
        // An empty proxy overrules http_proxy and its kin: a proxy would connect for us, past the address check.
        string(CURLOPT_PROXY, "")
        string(CURLOPT_NOPROXY, "*")
        long(CURLOPT_NETRC, 0)
        long(CURLOPT_FOLLOWLOCATION, 0)
        long(CURLOPT_NOSIGNAL, 1)
        long(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // No encoding is asked for and none undone, so bytes counted are bytes kept.
        long(CURLOPT_HTTP_CONTENT_DECODING, 0)
        long(CURLOPT_TIMEOUT_MS, hop.timeoutMilliseconds)
        long(CURLOPT_CONNECTTIMEOUT_MS, hop.connectTimeoutMilliseconds)
        // Without this, giving up on a slow name look-up would hold the loop until it ends.
        long(CURLOPT_QUICK_EXIT, 1)
        okay =
            bookplate_curl_set_offset(
                easy, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(hop.bodyBytesMax)) == CURLE_OK && okay

        okay = bookplate_curl_set_sink(easy, CURLOPT_WRITEFUNCTION, receiveBody) == CURLE_OK && okay
        okay =
            bookplate_curl_set_sink(easy, CURLOPT_HEADERFUNCTION, receiveHeader) == CURLE_OK && okay
        okay = bookplate_curl_set_open_socket(easy, openSocket) == CURLE_OK && okay
        for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_OPENSOCKETDATA] {
            pointer(option)
        }
        return okay && configureRequest()
    }

    private func configureRequest() -> Bool {
        var lines = hop.headers.map { "\($0.name): \($0.value)" }
        lines.append("Accept-Encoding: identity")
        if case .post(_, let contentType) = hop.method {
            lines.append("Content-Type: \(contentType)")
            lines.append("Expect:")  // no pause for 100-continue
        }
        for line in lines {
            guard let longer = curl_slist_append(headerList, line) else { return false }
            headerList = longer
        }
        guard bookplate_curl_set_list(easy, CURLOPT_HTTPHEADER, headerList) == CURLE_OK else {
            return false
        }
        guard case .post = hop.method else { return true }
        let count = curl_off_t(requestBody.count)
        // libcurl copies; the size goes first, or it would look for a NUL.
        return bookplate_curl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, count) == CURLE_OK
            && requestBody.withUnsafeMutableBytes { bytes in
                // An empty body has no address; one byte that is not sent stands for it.
                var nothing: UInt8 = 0
                return withUnsafeMutableBytes(of: &nothing) { empty in
                    bookplate_curl_set_pointer(
                        easy, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress ?? empty.baseAddress)
                } == CURLE_OK
            }
    }

    // MARK: What arrives

    /// Takes body bytes; false ends the transfer.
    fileprivate func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= hop.bodyBytesMax - body.count else {
            overLimit = true
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    /// Takes one header line; false ends the transfer.
    fileprivate func receive(header bytes: UnsafeRawBufferPointer) -> Bool {
        headerBytes += bytes.count
        guard headerBytes <= Self.headerBytesMax else {
            overLimit = true
            return false
        }
        // A status line starts a new answer: what came before was an interim one (100, 103).
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

    /// Opens a socket to an address that the policy permits; `CURL_SOCKET_BAD` makes libcurl try the next one.
    fileprivate func open(_ target: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        // The address may be longer than the field that starts it, so it is read in place.
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
