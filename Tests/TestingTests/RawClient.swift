import Foundation

/// A client that sends and receives bytes. Of HTTP it knows only how to find the end of a message.
final class RawClient: Sendable {
    struct Failure: Error, Equatable {
        let operation: String, code: Int32
        static let refused = Failure(operation: "connect", code: ECONNREFUSED)
        static let taken = Failure(operation: "bind", code: EADDRINUSE)
    }

    struct Rest {
        var bytes = Data()
        var wasReset = false
        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    let socket: Int32

    convenience init(port: Int) throws { try self.init(port, "connect") { connect($0, $1, $2) } }

    /// Takes a port of the loopback interface, and fails if it is in use.
    convenience init(taking port: Int) throws { try self.init(port, "bind") { bind($0, $1, $2) } }

    private init(
        _ port: Int, _ operation: String, _ begin: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws {
        #if canImport(Glibc)
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
        socket = Darwin.socket(AF_INET, SOCK_STREAM, 0)
        // On these systems, `send` doesn't have a flag that prevents SIGPIPE.
        var isQuiet: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &isQuiet, socklen_t(MemoryLayout<Int32>.size))
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                begin(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // The deinitializer closes the socket.
        guard result == 0 else { throw Failure(operation: operation, code: errno) }
        // Prevents endless receives.
        var limit = timeval(tv_sec: 1200, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var one: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { _ = close(socket) }

    func send(_ text: String) throws { try send(Data(text.utf8)) }

    func send(_ data: Data) throws {
        var rest = data
        while !rest.isEmpty {
            #if canImport(Darwin)
            let flags: Int32 = 0
            #else
            let flags = Int32(MSG_NOSIGNAL)
            #endif
            let count = rest.withUnsafeBytes { systemSend(socket, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { throw Failure(operation: "send", code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    func finishSending() { _ = shutdown(socket, Int32(SHUT_WR)) }

    /// Returns some bytes; empty at the end.
    func receive(upTo limit: Int = 65536) throws -> Data {
        var data = Data(count: limit)
        let count = data.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, 0) }
        guard count >= 0 else { throw Failure(operation: "receive", code: errno) }
        return data.prefix(count)
    }

    /// Receives until the text has arrived, and returns everything received.
    func receive(until text: String) throws -> String {
        var received = Data()
        while received.firstRange(of: Data(text.utf8)) == nil {
            let part = try receive()
            if part.isEmpty { break }
            received += part
        }
        return String(decoding: received, as: UTF8.self)
    }

    /// Receives until the connection ends.
    func receiveAll() throws -> Rest {
        var rest = Rest()
        while true {
            do {
                let part = try receive()
                if part.isEmpty { return rest }
                rest.bytes += part
            } catch let failure as Failure where failure.code == ECONNRESET {
                rest.wasReset = true
                return rest
            }
        }
    }
}

private func systemSend(_ socket: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(socket, bytes, count, flags)
}

/// Runs blocking work on a separate thread, so tasks don't wait for each other's sockets.
func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "raw client").async { continuation.resume(with: Swift.Result { try body() }) }
    }
}

/// Sends one request over a connection that the client asks to close, and returns everything received.
func exchange(_ port: Int, _ request: String) async throws -> RawClient.Rest {
    try await blocking {
        let client = try RawClient(port: port)
        try client.send(request)
        return try client.receiveAll()
    }
}

func get(_ path: String, _ fields: String = "", method: String = "GET", close: Bool = true) -> String {
    "\(method) \(path) HTTP/1.1\r\nHost: test\r\n\(close ? "Connection: close\r\n" : "")\(fields)\r\n"
}
