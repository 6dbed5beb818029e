import Glibc

/// A load balancer in front of two servers, with the defaults of its Debian package.
enum LoadBalancer: String, CaseIterable, Sendable {
    case haproxy, nginx

    /// The time in which the load balancer notices that a server is not ready. nginx does not check, but tries the other server
    /// when one refuses the connection.
    var stopDelaySeconds: Int {
        switch self {
        // It checks every 2 s, and a server is down after three failed checks.
        case .haproxy: 8
        case .nginx: 1
        }
    }

    /// The configuration in `docs/how-to/upgrade.md`, for these ports.
    ///
    /// - Parameters:
    ///   - port: The port of the load balancer.
    ///   - servers: The ports of the two servers.
    private func configuration(port: Int, servers: [Int]) -> String {
        switch self {
        case .haproxy:
            """
            defaults
                mode http
                timeout connect 5000
                timeout client 50000
                timeout server 50000
            frontend readers
                bind 127.0.0.1:\(port)
                default_backend bookplate
            backend bookplate
                option httpchk GET /health/ready
                server one 127.0.0.1:\(servers[0]) check
                server two 127.0.0.1:\(servers[1]) check

            """
        case .nginx:
            Self.nginxConfiguration(
                site: """
                    upstream bookplate {
                        server 127.0.0.1:\(servers[0]);
                        server 127.0.0.1:\(servers[1]);
                    }
                    server {
                        listen 127.0.0.1:\(port);
                        location / {
                            proxy_pass http://bookplate;
                        }
                    }
                    """)
        }
    }

    /// A configuration for nginx in the current folder, with one process, which ends with the test.
    ///
    /// - Parameter site: The part that describes servers.
    static func nginxConfiguration(site: String) -> String {
        """
        user root;
        daemon off;
        master_process off;
        pid nginx.pid;
        error_log stderr;
        events {}
        http {
            access_log off;
            client_body_temp_path body;
            proxy_temp_path proxy;
            fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi;
            scgi_temp_path scgi;
        \(site)
        }

        """
    }

    /// Starts the load balancer.
    func start(port: Int, servers: [Int], in installation: Installation) async throws
        -> RunningProgram
    {
        let file = try installation.write(
            configuration(port: port, servers: servers), to: "\(rawValue).conf")
        let arguments =
            switch self {
            case .haproxy: ["-f", file]
            case .nginx: ["-p", installation.folder, "-c", file, "-e", "stderr"]
            }
        return try await Program(
            name: rawValue, environment: ["PATH": "/usr/sbin:/usr/bin:/bin"],
            folder: installation.folder, path: "/usr/sbin/\(rawValue)"
        ).startServing(arguments)
    }
}

/// Returns a TCP port that nothing listens on.
func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
        }
    }
    guard result == 0 else { throw Program.Failure(description: "no free port: errno \(errno)") }
    return Int(in_port_t(bigEndian: address.sin_port))
}
