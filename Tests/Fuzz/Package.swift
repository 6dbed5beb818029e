// swift-tools-version: 6.3
import PackageDescription

// `./run SECONDS` in this folder builds and runs all fuzzers.
//
// The sources are symbolic links, so that they are built with the instrumentation of the fuzzer.
//
// Assertions are enabled. Types that read memory by address check their bounds with them; the
// address sanitizer alone would not detect an access to another part of the same allocation.
let fuzzed: [SwiftSetting] = [
    .unsafeFlags(["-sanitize=fuzzer,address", "-assert-config", "Debug"])
]
let linked: [LinkerSetting] = [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]
let package = Package(
    name: "fuzz",
    dependencies: [.package(url: "https://github.com/apple/swift-nio", from: "2.101.2")],
    targets: [
        .target(name: "CFuzzer"),
        .target(name: "GraphQL", swiftSettings: fuzzed),
        .executableTarget(
            name: "ByteFuzz", dependencies: ["GraphQL", "CFuzzer"], swiftSettings: fuzzed,
            linkerSettings: linked),
        .executableTarget(
            name: "GrammarFuzz", dependencies: ["GraphQL", "CFuzzer"], swiftSettings: fuzzed,
            linkerSettings: linked),
        .executableTarget(
            name: "ExecutionFuzz", dependencies: ["GraphQL", "CFuzzer"], swiftSettings: fuzzed,
            linkerSettings: linked),
        .executableTarget(
            name: "HTTPFuzz",
            dependencies: [
                "CFuzzer", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: fuzzed + [.define("FUZZ")], linkerSettings: linked),
    ],
    swiftLanguageModes: [.v6]
)
