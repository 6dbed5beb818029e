import Glibc

/// A running `bookplate-imager`, used by the thread that started it.
struct ImagerProcess {
    enum Failure: Error {
        /// The program does not exist or cannot be executed.
        case cannotStart(errno: Int32)
        /// The program started but did not report that it is ready.
        case notReady
    }

    private let pid: pid_t
    private let channel: FrameChannel

    /// Starts the program and waits until it reports that its self-test has succeeded.
    ///
    /// The child gets none of this process's environment, and no descriptors except one socket and standard
    /// error.
    init(program: String) throws(Failure) {
        var ends: [Int32] = [0, 0]
        guard
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
        else { throw .cannotStart(errno: errno) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A process group of its own, so that Ctrl-C reaches only the server. No signal is blocked or ignored.
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let environment = [
            "VIPS_BLOCK_UNTRUSTED=1", "VIPS_WARNING=0", "LANG=C.UTF-8", "MALLOC_ARENA_MAX=2",
            // A progressive JPEG of 12 megapixels has 75 MB of coefficients. Huge pages avoid 18,000 page
            // faults, a tenth of its decoding time. Large blocks are mapped separately, so that their memory
            // returns to the system when the image is released.
            "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=4194304",
        ]
        var pid: pid_t = 0
        let code = withCStrings([program]) { arguments in
            withCStrings(environment) { environment in
                posix_spawn(&pid, program, &actions, &attributes, arguments, environment)
            }
        }
        close(ends[1])
        guard code == 0 else {
            close(ends[0])
            throw .cannotStart(errno: code)
        }
        self.pid = pid
        channel = FrameChannel(input: ends[0], output: ends[0], isSignalFree: true)
        let payload = try? channel.receive(until: .now + ImageLimits.wallTimeMax)
        guard let payload, ImageResponse(payload: payload) == .ready else {
            stop()
            throw .notReady
        }
    }

    /// Sends one request and waits for the response.
    ///
    /// - Throws: If the process has crashed or is too slow. The caller must then stop it.
    func send(_ request: ImageRequest) throws(FrameChannel.Failure) -> ImageResponse {
        let deadline = ContinuousClock.now + ImageLimits.wallTimeMax
        if case .cover(let image) = request {
            try channel.send(request.encoded(), image, until: deadline)
        } else {
            try channel.send(request.encoded(), until: deadline)
        }
        guard let payload = try channel.receive(until: deadline) else { throw .closed }
        guard let response = ImageResponse(payload: payload) else { throw .malformed }
        return response
    }

    /// Whether the process is running. The kernel (out of memory) or an operator may have terminated it.
    var isRunning: Bool {
        var info = siginfo_t()
        return waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0
            && info._sifields._kill.si_pid == 0
    }

    /// Kills the process and waits until it has ended.
    func stop() {
        kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        close(channel.input)
    }
}

/// Passes the texts to `body` as a null-terminated list of C strings that is valid only during the call.
private func withCStrings<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let pointers = texts.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
}
