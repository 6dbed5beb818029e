import Gzip
import Testing

/// Returns a gzip file with these contents.
func gzip(_ contents: [UInt8]) throws -> [UInt8] {
    let compressor = try #require(GzipCompressor())
    var file: [UInt8] = []
    contents.withUnsafeBufferPointer { compressor.compress($0, isLast: true, to: &file) }
    return file
}
