// swift-tools-version: 6.2
import PackageDescription

// Run with `swift run -c release Benchmarks` in this folder; it needs Debian's node-graphql beside it.
let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "bookplate", path: "../..")],
    targets: [
        .executableTarget(
            name: "Benchmarks",
            dependencies: [.product(name: "GraphQL", package: "bookplate")],
            exclude: ["graphql-js.cjs"])
    ],
    swiftLanguageModes: [.v6]
)
