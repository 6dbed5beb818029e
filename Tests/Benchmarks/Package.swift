// swift-tools-version: 6.3
import PackageDescription

// Run `swift run -c release Benchmarks` in this folder. The comparison requires Debian's package
// node-graphql; see docs/decisions/benchmarks.md for the other engines.
//
// The sources of the engine are symbolic links, so that the dependencies of the product are not
// fetched.
let package = Package(
    name: "benchmarks",
    targets: [
        .target(name: "GraphQL"),
        .executableTarget(name: "OpenLoop"),
        .executableTarget(name: "Sockets"),
        .executableTarget(
            name: "Benchmarks", dependencies: ["GraphQL"], exclude: ["peers"]),
    ],
    swiftLanguageModes: [.v6]
)
