// swift-tools-version: 6.2
import PackageDescription

// `./run SECONDS` in this folder builds and runs both fuzzers.
// The engine's sources come by a link, so that they are built with the fuzzer's instrumentation.
let fuzzed: [SwiftSetting] = [.unsafeFlags(["-sanitize=fuzzer"])]
let linked: [LinkerSetting] = [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
let package = Package(
    name: "fuzz",
    targets: [
        .target(name: "CFuzzer"),
        .target(name: "GraphQL", swiftSettings: fuzzed),
        .executableTarget(
            name: "ByteFuzz", dependencies: ["GraphQL", "CFuzzer"], swiftSettings: fuzzed,
            linkerSettings: linked),
        .executableTarget(
            name: "GrammarFuzz", dependencies: ["GraphQL", "CFuzzer"], swiftSettings: fuzzed,
            linkerSettings: linked),
    ],
    swiftLanguageModes: [.v6]
)
