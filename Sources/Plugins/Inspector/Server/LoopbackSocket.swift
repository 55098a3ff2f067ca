import ErrandSupport

// Pointers refer to local variables or arrays for the duration of the call. The system reads and writes at most the
// length passed with them.

/// System calls on non-blocking sockets of the loopback interface. Platform differences are in separate files.
enum LoopbackSocket {
    enum Transfer: Equatable {
        case bytes(Int)
        /// The other side has closed its direction.
        case end
        case wouldBlock
        case failed
    }

    struct Failure: Error {
        let operation: String
        let code: Int32
        init(_ operation: String) { (self.operation, code) = (operation, errno) }
        var text: String { "\(operation): \(systemErrorText(code))" }
    }

    /// Returns a listening socket on 127.0.0.1 or ::1, and its port. Pass port 0 for any.
    static func listen(ipv6: Bool, port: UInt16) throws(Failure) -> (socket: Int32, port: UInt16) {
        let descriptor = socket(ipv6 ? AF_INET6 : AF_INET, streamType, 0)
        guard descriptor >= 0 else { throw Failure("socket") }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // A closed listener's connections keep its port for a while.
        setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, Int32(1))
        var port = port
        guard ipv6 ? bindIPv6(descriptor, &port) : bindIPv4(descriptor, &port),
            systemListen(descriptor, 128) == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0
        else {
            let failure = Failure("port \(port)")
            end(descriptor)
            throw failure
        }
        return (descriptor, port)
    }

    private static func bindIPv4(_ descriptor: Int32, _ port: inout UInt16) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        return isBound
    }

    private static func bindIPv6(_ descriptor: Int32, _ port: inout UInt16) -> Bool {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        address.sin6_port = port.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin6_port)
        return isBound
    }

    /// Returns a non-blocking connection, or `nil` without one or if accepting fails, with the reason in `errno`.
    static func accept(_ listener: Int32) -> Int32? {
        var descriptor = systemAccept(listener)
        while descriptor < 0 && errno == EINTR { descriptor = systemAccept(listener) }
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        setOption(descriptor, tcpLevel, TCP_NODELAY, Int32(1))
        prepareForWriting(descriptor)
        return descriptor
    }

    /// Appends the bytes that have arrived, up to a limit.
    static func receive(_ descriptor: Int32, into bytes: inout [UInt8], limit: Int) -> Transfer {
        let start = bytes.count
        bytes += [UInt8](repeating: 0, count: limit)
        let count = unsafe bytes.withUnsafeMutableBytes { bytes in
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
            var count = unsafe recv(descriptor, room.baseAddress, room.count, 0)
            while count < 0 && errno == EINTR { count = unsafe recv(descriptor, room.baseAddress, room.count, 0) }
            return count
        }
        let code = errno
        bytes.removeLast(limit - max(0, count))
        return transfer(count, code)
    }

    /// Sends as many bytes as the system takes. Never raises SIGPIPE.
    static func send(_ descriptor: Int32, _ bytes: [UInt8], from start: Int) -> Transfer {
        let count = unsafe bytes.withUnsafeBytes { bytes in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[start...])
            guard let base = rest.baseAddress else { return 0 }
            var count = unsafe systemSend(descriptor, base, rest.count, sendFlags)
            while count < 0 && errno == EINTR { count = unsafe systemSend(descriptor, base, rest.count, sendFlags) }
            return count
        }
        return transfer(count, errno)
    }

    private static func transfer(_ count: Int, _ code: Int32) -> Transfer {
        if count > 0 { return .bytes(count) }
        if count == 0 { return .end }
        return code == EAGAIN || code == EWOULDBLOCK ? .wouldBlock : .failed
    }

    /// Waits for any of the descriptors. A negative time waits without a limit.
    static func wait(_ polled: inout [pollfd], milliseconds: Int32) {
        _ = unsafe poll(&polled, nfds_t(polled.count), milliseconds)
    }

    static func shutDownWriting(_ descriptor: Int32) { _ = shutdown(descriptor, writingWay) }

    static func end(_ descriptor: Int32) { close(descriptor) }

    private static func setOption<Value>(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Value) {
        unsafe withUnsafePointer(to: value) {
            _ = unsafe setsockopt(descriptor, level, name, $0, socklen_t(MemoryLayout<Value>.size))
        }
    }
}

// Members with the same names would hide these.
private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }
private func systemAccept(_ descriptor: Int32) -> Int32 { accept(descriptor, nil, nil) }
private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int, _ flags: Int32) -> Int {
    unsafe send(descriptor, bytes, count, flags)
}
