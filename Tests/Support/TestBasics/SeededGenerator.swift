import Glibc

/// A random number generator that returns the same sequence for the same seed, so a failure of a randomized test can be
/// reproduced.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(_ seed: UInt64) { state = seed }

    /// The seed in `BOOKPLATE_TEST_SEED`, or a random one. Tests print it, so that a run can be repeated.
    package static var testSeed: UInt64 {
        getenv("BOOKPLATE_TEST_SEED").flatMap { UInt64(String(cString: $0)) }
            ?? .random(in: 0...UInt64.max)
    }

    /// SplitMix64: https://prng.di.unimi.it/splitmix64.c
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
