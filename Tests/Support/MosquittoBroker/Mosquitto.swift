import Glibc

/// A real mosquitto broker on its own port, which is stopped when the object is released.
package final class Mosquitto: @unchecked Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package let port: Int
    package let folder: String
    private let configuration: String
    // Not synchronized: a test uses the object from only one task at a time.
    private var pid: pid_t = 0

    /// - Parameter settings: Lines of mosquitto.conf besides the listener. FOLDER is replaced by the broker's
    ///   folder.
    package init(settings: String = "allow_anonymous true") throws {
        var template = Array("/tmp/bookplate-mosquitto-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(description: "mkdtemp: errno \(errno)")
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // mosquitto gives up root's privileges, so all users must be able to write to the folder.
        chmod(folder, 0o777)
        port = try Self.freePort()
        configuration =
            "listener \(port) 127.0.0.1\n"
            + "persistence true\npersistence_location \(folder)/\nautosave_interval 1\n"
            + settings.split(separator: "FOLDER", omittingEmptySubsequences: false).joined(
                separator: folder) + "\n"
    }

    deinit {
        stop()
        _ = try? Self.run(["rm", "-rf", folder])
    }

    package func write(_ text: String, to name: String) throws {
        guard let file = fopen("\(folder)/\(name)", "w") else {
            throw Failure(description: "\(name): errno \(errno)")
        }
        var text = text
        text.withUTF8 { _ = fwrite($0.baseAddress, 1, $0.count, file) }
        fclose(file)
        chmod("\(folder)/\(name)", 0o644)
    }

    /// Starts the broker and waits until it accepts connections.
    package func start() throws {
        try write(configuration, to: "mosquitto.conf")
        pid = try Self.spawn(["/usr/sbin/mosquitto", "-c", "\(folder)/mosquitto.conf"])
        for _ in 0..<1000 {
            if Self.isListening(port) { return }
            usleep(10_000)
        }
        throw Failure(description: "mosquitto did not accept connections within 10 s")
    }

    /// Stops the broker. By default this is immediate, like a power failure. With another signal the broker can save its state.
    package func stop(_ signal: Int32 = SIGKILL) {
        guard pid != 0 else { return }
        kill(pid, signal)
        waitpid(pid, nil, 0)
        pid = 0
    }

    /// Suspends the broker until it is stopped. The system still accepts connections to its port, but nothing responds.
    package func suspend() {
        guard pid != 0 else { return }
        kill(pid, SIGSTOP)
    }

    /// Starts a subscriber to all topics and waits until it has subscribed.
    package func subscribe(_ arguments: [String] = []) throws -> Subscriber {
        let output = "\(folder)/received-\(UInt32.random(in: 0...UInt32.max))"
        let pid = try Self.spawn(
            [
                "stdbuf", "-oL", "/usr/bin/mosquitto_sub", "-h", "127.0.0.1", "-p", "\(port)", "-q",
                "1", "-t", "#", "-v",
                "-i", "subscriber", "-c", "-d",
            ] + arguments, output: output)
        let subscriber = Subscriber(pid: pid, output: output)
        for _ in 0..<1000 {
            if subscriber.text.contains("received SUBACK") { return subscriber }
            usleep(10_000)
        }
        throw Failure(
            description: "mosquitto_sub did not subscribe within 10 s: \(subscriber.text)")
    }

    package final class Subscriber: Sendable {
        private let pid: pid_t
        private let output: String

        init(pid: pid_t, output: String) {
            self.pid = pid
            self.output = output
        }

        deinit {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
        }

        fileprivate var text: String {
            guard let file = fopen(output, "r") else { return "" }
            defer { fclose(file) }
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 4096)
            while case let count = fread(&chunk, 1, chunk.count, file), count > 0 {
                bytes += chunk[..<count]
            }
            return String(decoding: bytes, as: UTF8.self)
        }

        /// The messages received so far as `TOPIC PAYLOAD`, without the log lines of mosquitto_sub.
        package var lines: [String] {
            text.split(separator: "\n").filter {
                !$0.hasPrefix("Client ") && !$0.hasPrefix("Subscribed ")
            }.map(String.init)
        }

        /// Waits until at least `count` messages have been received.
        package func wait(_ count: Int) throws -> [String] {
            for _ in 0..<2000 {
                if lines.count >= count { return lines }
                usleep(10_000)
            }
            throw Failure(
                description: "received only \(lines.count) of \(count) messages: \(text)")
        }
    }

    // MARK: Processes

    /// Runs a program and returns its exit status.
    package static func run(_ arguments: [String]) throws -> Int32 {
        var status: Int32 = 0
        waitpid(try spawn(arguments), &status, 0)
        return (status >> 8) & 0xff
    }

    private static func spawn(_ arguments: [String], output: String = "/dev/null") throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(
            &actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // The threads of tests block signals, and the child process would inherit the signal mask.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var pid: pid_t = 0
        let result = posix_spawnp(&pid, arguments[0], &actions, &attributes, pointers, nil)
        guard result == 0 else { throw Failure(description: "\(arguments[0]): errno \(result)") }
        return pid
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return address
    }

    private static func isListening(_ port: Int) -> Bool {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = address(port)
        return withUnsafeBytes(of: &address) {
            connect(
                socket, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        } == 0
    }

    private static func freePort() throws -> Int {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutableBytes(of: &address) { bytes -> Int32 in
            let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            guard bind(socket, pointer, length) == 0 else { return -1 }
            guard let pointer else { return -1 }
            return getsockname(socket, pointer, &length)
        }
        guard result == 0 else { throw Failure(description: "no free port: errno \(errno)") }
        return Int(in_port_t(bigEndian: address.sin_port))
    }
}
