// swift-tools-version: 6.3
import PackageDescription

// `swift run -c release Benchmarks` in this folder; it needs Debian's node-graphql.
// The engine's sources come by a link, so that the product's dependencies need not be fetched.
let package = Package(
    name: "benchmarks",
    targets: [
        .target(name: "GraphQL"),
        .executableTarget(name: "IdleSockets"),
        .executableTarget(
            name: "Benchmarks", dependencies: ["GraphQL"], exclude: ["graphql-js.cjs"]),
    ],
    swiftLanguageModes: [.v6]
)
