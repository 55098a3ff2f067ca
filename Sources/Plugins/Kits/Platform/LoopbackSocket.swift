package import ErrandSupport

// Pointers refer to local variables, spans, or arrays that outlive the call. The system accesses at most the length
// passed with them.

/// System calls for loopback servers and their stream sockets, retried after interruptions.
package enum LoopbackSocket {
    package enum Transfer: Equatable {
        case bytes(Int)
        /// The peer won't send any more bytes.
        case end
        case wouldBlock
        case failed
    }

    package struct Failure: Error {
        package let operation: String
        package let code: Int32
        package init(_ operation: String) { (self.operation, code) = (operation, errno) }
        fileprivate init(_ port: UInt16) { self.init(port == 0 ? "listen" : "port \(port)") }
        package var text: String { "\(operation): \(systemErrorText(code))" }
    }

    package static let host: UInt32 = 0x7F00_0001

    // MARK: Listeners

    /// The socket is non-blocking, on 127.0.0.1 or ::1. Port 0 means any free port.
    package static func listen(
        ipv6: Bool, port: UInt16, backlog: Int32
    ) throws(Failure) -> (socket: Int32, port: UInt16) {
        let (descriptor, port) = try bound(to: port, ipv6: ipv6)
        try listen(descriptor, port, backlog: backlog)
        return (descriptor, port)
    }

    package static func listen(_ descriptor: Int32, _ port: UInt16, backlog: Int32) throws(Failure) {
        if systemListen(descriptor, backlog) == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 { return }
        let failure = Failure(port)
        end(descriptor)
        throw failure
    }

    package static func bound(to port: UInt16, ipv6: Bool) throws(Failure) -> (socket: Int32, port: UInt16) {
        guard let descriptor = make(ipv6: ipv6) else { throw Failure("socket") }
        // Without this option, connections of a closed listener would block its port for a while.
        setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, Int32(1))
        var port = port
        guard ipv6 ? bindIPv6(descriptor, &port) : bindIPv4(descriptor, &port) else {
            let failure = Failure(port)
            end(descriptor)
            throw failure
        }
        return (descriptor, port)
    }

    package static func make(ipv6: Bool) -> Int32? {
        let descriptor = socket(ipv6 ? AF_INET6 : AF_INET, streamType, 0)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    package static func address(_ host: UInt32, _ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(host).bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    /// Sets `port` to the socket's actual port.
    package static func bindIPv4(_ descriptor: Int32, _ port: inout UInt16, host: UInt32 = Self.host) -> Bool {
        var address = address(host, port)
        let isBound = bind(descriptor, to: &address)
        port = UInt16(bigEndian: address.sin_port)
        return isBound
    }

    private static func bindIPv6(_ descriptor: Int32, _ port: inout UInt16) -> Bool {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        address.sin6_port = port.bigEndian
        let isBound = bind(descriptor, to: &address)
        port = UInt16(bigEndian: address.sin6_port)
        return isBound
    }

    private static func bind<Address>(_ descriptor: Int32, to address: inout Address) -> Bool {
        var length = socklen_t(MemoryLayout<Address>.size)
        return unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe systemBind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
    }

    // MARK: Connections

    /// Returns a non-blocking connection, or `nil` with the reason in `errno`.
    package static func accept(_ listener: Int32) -> Int32? {
        var descriptor = systemAccept(listener)
        while descriptor < 0 && errno == EINTR { descriptor = systemAccept(listener) }
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        setOption(descriptor, tcpLevel, TCP_NODELAY, Int32(1))
        prepareForWriting(descriptor)
        return descriptor
    }

    package static func receive(_ descriptor: Int32, into bytes: inout [UInt8], limit: Int) -> Transfer {
        let start = bytes.count
        bytes += [UInt8](repeating: 0, count: limit)
        let count = read(descriptor, into: &bytes, from: start)
        let code = errno
        bytes.removeLast(limit - max(0, count))
        return transfer(count, code)
    }

    package static func send(_ descriptor: Int32, _ bytes: [UInt8], from start: Int) -> Transfer {
        let count = bytes.withSpan { write(descriptor, $0.extracting(start...)) }
        return transfer(count, errno)
    }

    private static func transfer(_ count: Int, _ code: Int32) -> Transfer {
        if count > 0 { return .bytes(count) }
        if count == 0 { return .end }
        return code == EAGAIN || code == EWOULDBLOCK ? .wouldBlock : .failed
    }

    /// Returns the number of bytes, or -1 with the reason in `errno`.
    package static func read(_ descriptor: Int32, into bytes: inout [UInt8], from start: Int) -> Int {
        unsafe bytes.withUnsafeMutableBytes { bytes in
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
            var count = unsafe recv(descriptor, room.baseAddress, room.count, 0)
            while count < 0 && errno == EINTR { count = unsafe recv(descriptor, room.baseAddress, room.count, 0) }
            return count
        }
    }

    /// Returns the number of bytes that the system accepted, or -1 with the reason in `errno`. Never raises SIGPIPE.
    package static func write(_ descriptor: Int32, _ bytes: Span<UInt8>) -> Int {
        unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            var count = unsafe systemSend(descriptor, start, bytes.count, sendFlags)
            while count < 0 && errno == EINTR {
                count = unsafe systemSend(descriptor, start, bytes.count, sendFlags)
            }
            return count
        }
    }

    /// A negative time means no limit.
    package static func wait(_ polled: inout [pollfd], milliseconds: Int32) {
        _ = unsafe poll(&polled, nfds_t(polled.count), milliseconds)
    }

    package static func shutDownWriting(_ descriptor: Int32) { _ = shutdown(descriptor, writingDirection) }

    package static func end(_ descriptor: Int32) { close(descriptor) }

    package static func setOption<Value>(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Value) {
        unsafe withUnsafePointer(to: value) {
            _ = unsafe setsockopt(descriptor, level, name, $0, socklen_t(MemoryLayout<Value>.size))
        }
    }
}

// Outside the enum, because its members with the same names hide the system's functions.
private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }
private func systemAccept(_ descriptor: Int32) -> Int32 { accept(descriptor, nil, nil) }
private func systemBind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    unsafe bind(descriptor, address, length)
}
private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int, _ flags: Int32) -> Int {
    unsafe send(descriptor, bytes, count, flags)
}
