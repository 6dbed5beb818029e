import Glibc
import NIOCore
import NIOPosix

/// Makes the kernel ignore new connections to a listening socket, although it still listens.
///
/// When a socket stops listening, the kernel resets the connections that it has completed but the program has not yet
/// accepted. A client may have sent its request on them, and cannot know that the request was not processed; nginx then
/// responds with 502. With this filter no connection begins, those that have begun are accepted, and the socket can be
/// closed when none is left. A client whose first packet (SYN) was ignored repeats it after a second, and is refused.
///
/// See `SO_ATTACH_FILTER` in socket(7), and https://docs.kernel.org/networking/filter.html.
func ignoreNewConnections(on channel: any Channel) async throws {
    guard let socket = channel as? any SocketOptionProvider else { return }
    let instructions = UnsafeMutableBufferPointer<FilterInstruction>.allocate(capacity: 4)
    defer { instructions.deallocate() }
    _ = instructions.initialize(from: [
        // Loads the byte 13 of the TCP header, which contains the flags.
        FilterInstruction(code: 0x30, jumpIfTrue: 0, jumpIfFalse: 0, operand: 13),
        // Continues with the next instruction if the flag SYN (2) is set, and otherwise with the one after it.
        FilterInstruction(code: 0x45, jumpIfTrue: 0, jumpIfFalse: 1, operand: 2),
        // Drops the packet: keeps none of its bytes.
        FilterInstruction(code: 0x06, jumpIfTrue: 0, jumpIfFalse: 0, operand: 0),
        // Keeps the whole packet.
        FilterInstruction(code: 0x06, jumpIfTrue: 0, jumpIfFalse: 0, operand: .max),
    ])
    try await socket.unsafeSetSocketOption(
        level: .socket, name: .init(rawValue: SO_ATTACH_FILTER),
        value: FilterProgram(
            count: UInt16(instructions.count), instructions: instructions.baseAddress)
    ).get()
}

/// `struct sock_filter` of linux/filter.h.
private struct FilterInstruction {
    let code: UInt16
    let jumpIfTrue: UInt8
    let jumpIfFalse: UInt8
    let operand: UInt32
}

/// `struct sock_fprog` of linux/filter.h.
///
/// Sendable because the kernel reads the instructions before the caller releases them, and nothing changes them.
private struct FilterProgram: @unchecked Sendable {
    let count: UInt16
    let instructions: UnsafeMutablePointer<FilterInstruction>?
}
