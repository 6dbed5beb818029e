import Glibc

/// One `bookplate-imager`: started, spoken to by the thread that owns it, and stopped.
struct ImagerProcess {
    enum Failure: Error {
        /// The program is not there or cannot be started.
        case cannotStart(errno: Int32)
        /// It started, and did not say that it is ready.
        case notReady
    }

    private let pid: pid_t
    private let channel: FrameChannel

    /// Starts the program and hears its proof that it reads nothing but the accepted formats.
    ///
    /// It gets no environment of ours, and keeps no descriptor but one socket and standard error.
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
        // A group of its own: Ctrl-C is the server's to pass on. No signal stays blocked or ignored.
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
            // A progressive JPEG of 12 megapixels has 75 MB of coefficients: huge pages spare 18,000 faults, a tenth of its
            // time, and what is mapped by itself goes back to the system with the image.
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
        let answer = try? channel.receive(until: .now + ImageLimits.wallTimeMax)
        guard let answer, ImageAnswer(payload: answer) == .ready else {
            stop()
            throw .notReady
        }
    }

    /// - Throws: when it has crashed or was too slow; it is then to be stopped.
    func ask(_ request: [UInt8]) throws(FrameChannel.Failure) -> ImageAnswer {
        let deadline = ContinuousClock.now + ImageLimits.wallTimeMax
        try channel.send(request, until: deadline)
        guard let payload = try channel.receive(until: deadline) else { throw .closed }
        guard let answer = ImageAnswer(payload: payload) else { throw .malformed }
        return answer
    }

    /// Whether it is still there: the kernel may have ended it for its memory, or an operator.
    var isRunning: Bool {
        var info = siginfo_t()
        return waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0
            && info._sifields._kill.si_pid == 0
    }

    func stop() {
        kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        close(channel.input)
    }
}

/// Texts as a list of C strings that ends with a null.
private func withCStrings<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let pointers = texts.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
}
