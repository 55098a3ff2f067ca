import Foundation
import Synchronization

/// A Redis reply, in version 2 of the protocol.
nonisolated enum RedisReply: Sendable, Equatable {
    case text(String)
    case number(Int)
    case bytes(Data)
    case list([RedisReply])
    case none
}

nonisolated struct RedisError: Error, CustomStringConvertible { let description: String }

/// One connection to Redis over a plain socket. It blocks: call it off the caller's actor.
nonisolated final class RedisConnection: Sendable {
    private struct State {
        var socket: Int32 = -1
        var input: [UInt8] = []
        var offset = 0
    }

    private let state = Mutex(State())
    private let port: UInt16
    /// A reply larger than this fails.
    private static let maximumBytes = 64 << 20

    /// Connects to the loopback interface on the first command, and reconnects after a failure.
    init(port: UInt16) { self.port = port }

    deinit { state.withLock { if $0.socket >= 0 { close($0.socket) } } }

    /// Sends a command and returns its reply. Throws errors that Redis reports.
    ///
    /// - Parameter isObsolete: Decides right before the command is sent. If it returns true, the command isn't sent.
    @concurrent func send(
        _ words: Data..., unless isObsolete: @Sendable () -> Bool = { false }
    ) async throws -> RedisReply {
        var message = Data("*\(words.count)\r\n".utf8)
        for word in words { message += Data("$\(word.count)\r\n".utf8) + word + Data("\r\n".utf8) }
        return try state.withLock { state in
            if isObsolete() { return .none }
            do {
                if state.socket < 0 { try connect(&state) }
                try write(message, state.socket)
                return try read(&state)
            } catch {
                // A reply may be half read, so the next command needs a new connection.
                if state.socket >= 0 { close(state.socket) }
                state = State()
                throw error
            }
        }
    }

    private func connect(_ state: inout State) throws {
        #if canImport(Glibc)
        state.socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
        state.socket = socket(AF_INET, SOCK_STREAM, 0)
        // On this platform, `send` has no flag to suppress SIGPIPE.
        var isQuiet: Int32 = 1
        setsockopt(state.socket, SOL_SOCKET, SO_NOSIGPIPE, &isQuiet, socklen_t(MemoryLayout<Int32>.size))
        #endif
        var timeout = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(state.socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(state.socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                join(state.socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 { throw RedisError(description: "Redis can't be reached") }
    }

    private func write(_ data: Data, _ socket: Int32) throws {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { sendBytes(socket, $0.baseAddress, $0.count) }
            if count <= 0 { throw RedisError(description: "Redis went away") }
            rest = rest.dropFirst(count)
        }
    }

    private func read(_ state: inout State) throws -> RedisReply {
        let line = try line(&state)
        guard let mark = line.first, let text = String(validating: line.dropFirst(), as: UTF8.self) else {
            throw RedisError(description: "Redis closed the connection without a reply")
        }
        switch mark {
        case UInt8(ascii: "+"): return .text(text)
        case UInt8(ascii: "-"): throw RedisError(description: text)
        case UInt8(ascii: ":"): return .number(Int(text) ?? 0)
        case UInt8(ascii: "$"):
            guard let count = Int(text), count <= Self.maximumBytes else { throw RedisError(description: "too long") }
            if count < 0 { return .none }
            let bytes = try take(count + 2, &state)
            return .bytes(Data(bytes.dropLast(2)))
        case UInt8(ascii: "*"):
            guard let count = Int(text), count <= 100_000 else { throw RedisError(description: "too many") }
            return count < 0 ? .none : .list(try (0..<count).map { _ in try read(&state) })
        default: throw RedisError(description: "invalid reply from Redis")
        }
    }

    private func line(_ state: inout State) throws -> [UInt8] {
        var line: [UInt8] = []
        while line.suffix(2) != [13, 10] { line += try take(1, &state) }
        return line.dropLast(2)
    }

    private func take(_ count: Int, _ state: inout State) throws -> ArraySlice<UInt8> {
        while state.input.count - state.offset < count {
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            let received = recv(state.socket, &buffer, buffer.count, 0)
            if received <= 0 { throw RedisError(description: "Redis went away") }
            if state.offset > 0 { state.input.removeFirst(state.offset) }
            state.offset = 0
            state.input += buffer.prefix(received)
        }
        defer { state.offset += count }
        return state.input[state.offset..<(state.offset + count)]
    }
}

private nonisolated func join(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    connect(socket, address, length)
}

private nonisolated func sendBytes(_ socket: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Glibc)
    send(socket, bytes, count, Int32(MSG_NOSIGNAL))
    #else
    send(socket, bytes, count, 0)
    #endif
}
