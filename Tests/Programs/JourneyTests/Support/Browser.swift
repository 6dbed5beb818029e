import Glibc
import GraphQL
import TestSupport

/// A page in headless Chromium, controlled with the DevTools protocol over a pair of pipes.
///
/// Its methods block the thread, so call them inside `blocking { … }`.
///
/// Protocol: https://chromedevtools.github.io/devtools-protocol/
final class Browser {
    private let pid: pid_t
    private let input: Int32
    private let output: Int32
    private var unread: [UInt8] = []
    private var lastID = 0
    private var session = ""
    /// Errors of the page: uncaught exceptions, console errors, and failed loads.
    private(set) var errors: [String] = []
    /// The URLs of all requests that the page sent.
    private(set) var requestURLs: [String] = []

    static let path = "/usr/bin/chromium"

    /// - Parameters:
    ///   - folder: where Chromium stores its profile and its log.
    ///   - hostName: another name of this machine, or nil.
    init(folder: String, hostName: String? = nil) throws {
        var toBrowser: [Int32] = [0, 0]
        var fromBrowser: [Int32] = [0, 0]
        guard pipe(&toBrowser) == 0, pipe(&fromBrowser) == 0 else {
            throw Program.Failure(description: "pipe: errno \(errno)")
        }
        for end in [toBrowser[1], fromBrowser[0]] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Chromium reads from descriptor 3 and writes to 4. The ends of the pipes get unused numbers from 10, because either
        // end may already have the number 3 or 4.
        let ends = [toBrowser[0], fromBrowser[1]].map { fcntl($0, F_DUPFD_CLOEXEC, 10) }
        defer { for end in ends { Glibc.close(end) } }
        posix_spawn_file_actions_adddup2(&actions, ends[0], 3)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 4)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(
            &actions, 2, "\(folder)/chromium.log", O_WRONLY | O_CREAT, 0o600)
        let arguments =
            [
                "chromium", "--headless=new", "--remote-debugging-pipe", "--no-sandbox",
                "--disable-gpu",
                "--no-first-run", "--disable-extensions", "--disable-background-networking",
                "--disable-component-update", "--disable-dev-shm-usage",
                "--user-data-dir=\(folder)/profile",
                "--window-size=1440,900", "about:blank",
            ]
            + (hostName.map { ["--host-resolver-rules=MAP \($0) 127.0.0.1"] } ?? [])
        var child: pid_t = 0
        let result = withCStrings(arguments) { arguments in
            withCStrings(["PATH=/usr/bin:/bin", "HOME=\(folder)", "LANG=C.UTF-8"]) {
                posix_spawn(&child, Self.path, &actions, nil, arguments, $0)
            }
        }
        Glibc.close(toBrowser[0])
        Glibc.close(fromBrowser[1])
        guard result == 0 else {
            throw Program.Failure(description: "\(Self.path): errno \(result)")
        }
        pid = child
        input = toBrowser[1]
        output = fromBrowser[0]
        let target = try call("Target.createTarget", ["url": "about:blank"])
        let attached = try call(
            "Target.attachToTarget", ["targetId": target["targetId"] ?? .null, "flatten": true])
        session = attached["sessionId"]?.string ?? ""
        for domain in ["Page", "Runtime", "Log", "Network", "DOM"] { try call("\(domain).enable") }
    }

    deinit {
        Glibc.close(input)
        Glibc.close(output)
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
    }

    // MARK: The page

    func open(_ url: String) throws {
        try call("Page.navigate", ["url": .string(url)])
        try wait("true")
    }

    /// Evaluates a JavaScript expression and returns its value. If it is a promise, waits for its result.
    @discardableResult
    func evaluate(_ expression: String) throws -> Value {
        let response = try call(
            "Runtime.evaluate",
            [
                "expression": .string(expression), "awaitPromise": true, "returnByValue": true,
                "userGesture": true,
            ])
        if let exception = response["exceptionDetails"] {
            throw Program.Failure(description: "\(expression): \(exception)")
        }
        return response["result", "value"] ?? .null
    }

    /// Waits until the page is loaded and a JavaScript expression is true, for at most a minute.
    ///
    /// The error says what the page showed instead.
    ///
    /// The browser may go to another page meanwhile.
    func wait(_ expression: String) throws {
        let condition = "document.readyState === 'complete' && Boolean(\(expression))"
        for _ in 0..<1200 {
            do {
                if try evaluate(condition) == true { return }
            } catch is PageLeft {}
            usleep(50_000)
        }
        try screenshot("timeout")
        let text = try evaluate("document.body.innerText").string ?? ""
        throw Program.Failure(
            description:
                "timed out waiting until this is true: \(expression); the page shows: \(text.prefix(1000))"
        )
    }

    func click(_ selector: String) throws {
        try evaluate("document.querySelector(\(Self.quoted(selector))).click()")
    }

    /// A position in the window in CSS pixels.
    struct Point {
        var x: Double
        var y: Double
    }

    /// Returns the center of an element.
    func center(of selector: String) throws -> Point {
        try point(
            """
            (({x, y, width, height}) => [x + width / 2, y + height / 2])
              (document.querySelector(\(Self.quoted(selector))).getBoundingClientRect())
            """)
    }

    /// Returns the point that a JavaScript expression evaluates to as `[x, y]`.
    func point(_ expression: String) throws -> Point {
        let value = try evaluate(expression)
        let numbers = value.list?.compactMap(Self.number) ?? []
        guard numbers.count == 2 else {
            throw Program.Failure(description: "\(expression) is not a point: \(value)")
        }
        return Point(x: numbers[0], y: numbers[1])
    }

    private static func number(_ value: Value) -> Double? {
        switch value {
        case .int(let number): Double(number)
        case .float(let number): number
        default: nil
        }
    }

    func moveMouse(to point: Point) throws { try sendMouse("mouseMoved", point) }

    /// Presses the mouse button at a point and releases it at another one.
    func drag(from start: Point, to end: Point) throws {
        try sendMouse("mouseMoved", start)
        try sendMouse("mousePressed", start, isPressed: true)
        try sendMouse("mouseMoved", end, isPressed: true)
        try sendMouse("mouseReleased", end)
    }

    private func sendMouse(_ type: String, _ point: Point, isPressed: Bool = false) throws {
        try call(
            "Input.dispatchMouseEvent",
            [
                "type": .string(type), "x": .float(point.x), "y": .float(point.y),
                "button": type == "mouseMoved" && !isPressed ? "none" : "left",
                "buttons": .int(isPressed ? 1 : 0), "clickCount": 1,
            ])
    }

    /// Types text with one key press per character.
    func type(_ text: String) throws {
        for character in text {
            let key = character == "\n" ? "\r" : String(character)
            try key == "\r"
                ? press("Enter", code: "Enter", number: 13, text: "\r")
                : press(key, code: "", number: 0, text: key)
        }
    }

    /// - Parameter modifiers: the sum of 1 for Alt, 2 for Ctrl, and 8 for Shift.
    func press(
        _ key: String, code: String, number: Int, modifiers: Int = 0, text: String? = nil
    ) throws {
        var event: [Value.Member] = [
            .init("key", .string(key)), .init("code", .string(code)),
            .init("windowsVirtualKeyCode", .int(number)), .init("modifiers", .int(modifiers)),
        ]
        try call(
            "Input.dispatchKeyEvent",
            .object(
                event + [
                    .init("type", text == nil ? "rawKeyDown" : "keyDown")
                ] + (text.map { [.init("text", .string($0))] } ?? [])))
        event.append(.init("type", "keyUp"))
        try call("Input.dispatchKeyEvent", .object(event))
    }

    /// Selects files in an `<input type=file>`.
    func choose(_ files: [String], in selector: String) throws {
        let document = try call("DOM.getDocument")
        let node = try call(
            "DOM.querySelector",
            ["nodeId": document["root", "nodeId"] ?? .null, "selector": .string(selector)])
        try call(
            "DOM.setFileInputFiles",
            ["nodeId": node["nodeId"] ?? .null, "files": .list(files.map { .string($0) })])
    }

    /// Emulates a screen. A screen with a width of at most 600 pixels is that of a phone.
    func setScreen(width: Int, height: Int) throws {
        let isPhone = width <= 600
        try call(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .int(width), "height": .int(height),
                "deviceScaleFactor": isPhone ? 2 : 1, "mobile": .boolean(isPhone),
            ])
    }

    /// Saves a screenshot to the folder that `BOOKPLATE_TEST_SCREENSHOTS` names, if it is set.
    func screenshot(_ name: String) throws {
        guard let folder = getenv("BOOKPLATE_TEST_SCREENSHOTS") else { return }
        let image = try call("Page.captureScreenshot", ["format": "png"])
        let bytes = Self.decodeBase64(image["data"]?.string ?? "")
        let path = "\(String(cString: folder))/\(name).png"
        guard let file = fopen(path, "w") else {
            throw Program.Failure(description: "\(path): errno \(errno)")
        }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }

    // MARK: The protocol

    /// The browser left the page before it had answered a call.
    private struct PageLeft: Error {}

    private static func isPageLeft(_ error: Value) -> Bool {
        [
            "Inspected target navigated or closed", "Execution context was destroyed.",
            "Cannot find context with specified id", "Cannot find default execution context",
        ].contains(error["message"]?.string)
    }

    @discardableResult
    func call(_ method: String, _ parameters: Value = [:]) throws -> Value {
        lastID += 1
        var members: [Value.Member] = [
            .init("id", .int(lastID)), .init("method", .string(method)),
            .init("params", parameters),
        ]
        if !session.isEmpty { members.append(.init("sessionId", .string(session))) }
        var writer = ResponseWriter()
        writer.write(.object(members))
        try send(writer.bytes + [0])
        while true {
            let message = try receive()
            guard message["id"] == .int(lastID) else {
                record(message)
                continue
            }
            if let error = message["error"] {
                if Self.isPageLeft(error) { throw PageLeft() }
                throw Program.Failure(description: "\(method): \(error)")
            }
            return message["result"] ?? .null
        }
    }

    private func record(_ event: Value) {
        let parameters = event["params"] ?? .null
        switch event["method"]?.string {
        case "Runtime.exceptionThrown":
            errors.append("\(parameters["exceptionDetails"] ?? .null)")
        case "Runtime.consoleAPICalled" where parameters["type"] == "error":
            errors.append("\(parameters["args"] ?? .null)")
        case "Log.entryAdded" where parameters["entry", "level"] == "error":
            errors.append(
                "\(parameters["entry", "text"] ?? .null) \(parameters["entry", "url"] ?? .null)")
        case "Network.requestWillBeSent":
            if let url = parameters["request", "url"]?.string { requestURLs.append(url) }
        default: break
        }
    }

    private func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            guard count > 0 else {
                throw Program.Failure(description: "the browser closed the connection")
            }
            rest = rest.dropFirst(count)
        }
    }

    private func receive() throws -> Value {
        while true {
            if let end = unread.firstIndex(of: 0) {
                let message = Array(unread[..<end])
                unread.removeSubrange(...end)
                return try parseJSON(message, limits: JSONLimits(bytesMax: message.count))
            }
            var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, 30_000) > 0 else {
                throw Program.Failure(description: "the browser did not respond within 30 s")
            }
            var chunk = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(output, &chunk, chunk.count)
            guard count > 0 else {
                throw Program.Failure(description: "the browser closed the connection")
            }
            unread += chunk[..<count]
        }
    }

    /// Encodes a string as a JavaScript string literal.
    static func quoted(_ text: String) -> String {
        var writer = ResponseWriter()
        writer.write(.string(text))
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func decodeBase64(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var bits = 0
        var count = 0
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for byte in text.utf8 {
            guard let value = letters.firstIndex(of: byte) else { continue }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
                bits &= (1 << count) - 1
            }
        }
        return bytes
    }
}
