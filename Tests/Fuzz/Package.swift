// swift-tools-version: 6.3
import PackageDescription

// `./run SECONDS` in this folder builds and runs all fuzzers.
// The sources come by links, so that they are built with the fuzzer's instrumentation.
// Assertions are checked: those of the types that read memory by address stay within what is theirs, where the address
// sanitizer sees one allocation.
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
            name: "HTTPFuzz",
            dependencies: [
                "CFuzzer", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: fuzzed + [.define("FUZZ")], linkerSettings: linked),
    ],
    swiftLanguageModes: [.v6]
)
