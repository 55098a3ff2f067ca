#if os(Linux)
import ErrandTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Passes on the frames of HTTP/2 without TLS, and changes some, as a wrong client would send or read them.
final class FrameRelay: Sendable {
    enum Side: Sendable { case client, server }

    struct Frame: Sendable {
        var kind: UInt8
        var flags: UInt8
        var stream: UInt32
        var payload: [UInt8]

        fileprivate init(_ head: [UInt8], _ payload: [UInt8]) {
            (kind, flags, self.payload) = (head[3], head[4], payload)
            stream = head[5...8].reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        }

        fileprivate var bytes: [UInt8] {
            func word(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
            return word(UInt32(payload.count)).dropFirst() + [kind, flags] + word(stream) + payload
        }
    }

    /// Returns the frames to send instead of a frame. An empty array drops it, and `nil` ends the connection.
    typealias Change = @Sendable (_ sender: Side, Frame) -> [Frame]?

    private static let preface = 24
    private let server: RawServer

    var port: Int { Int(server.port) }

    init(to port: Int, _ change: @escaping Change) throws {
        server = try RawServer { client in
            guard let upstream = TLSRelay.connection(to: port) else { return }
            defer { close(upstream) }
            var relays = [
                Direction(sender: .client, from: client.descriptor, to: upstream, skipped: Self.preface),
                Direction(sender: .server, from: upstream, to: client.descriptor, skipped: 0),
            ]
            var polls = [client.descriptor, upstream].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            while poll(&polls, 2, -1) >= 0 {
                for index in relays.indices where polls[index].revents != 0 {
                    if !relays[index].pass(change) { return }
                }
            }
        }
    }

    private struct Direction {
        let sender: Side
        let from: Int32
        let to: Int32
        /// The number of bytes before the first frame.
        var skipped: Int
        var input: [UInt8] = []

        /// Returns `false` if the connection has ended.
        mutating func pass(_ change: Change) -> Bool {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(from, &buffer, buffer.count, 0)
            if count <= 0 { return false }
            input += buffer.prefix(count)
            if skipped > 0 {
                guard input.count >= skipped else { return true }
                TLSRelay.sendAll(Array(input.prefix(skipped)), to: to)
                input.removeFirst(skipped)
                skipped = 0
            }
            var output: [UInt8] = []
            while input.count >= 9 {
                let length = Int(input[0]) << 16 | Int(input[1]) << 8 | Int(input[2])
                guard input.count >= 9 + length else { break }
                let frame = Frame(Array(input.prefix(9)), Array(input[9..<(9 + length)]))
                input.removeFirst(9 + length)
                guard let frames = change(sender, frame) else { return false }
                output += frames.flatMap(\.bytes)
            }
            TLSRelay.sendAll(output, to: to)
            return true
        }
    }
}
#endif
