import ErrandSupport

// Pointers refer to local variables, or to spans or arrays for the duration of the call. The system reads and writes at
// most the length passed with them.

/// System calls, retried after interruptions. Platform differences are in separate files.
enum POSIX {
    struct Failure: Error {
        let operation: String
        let code: Int32
        init(_ operation: String) { (self.operation, code) = (operation, errno) }
        var text: String { "\(operation): \(systemErrorText(code))" }
    }

    enum Readiness { case readable, belled, timedOut }

    /// Returns a listening loopback socket, its port, and a placeholder that keeps the port after the listener closes.
    /// The placeholder is `nil` if the system doesn't allow it.
    static func listen(ipv6: Bool) throws(Failure) -> (socket: Int32, port: UInt16, placeholder: Int32?) {
        let (descriptor, port) = try bound(to: 0, ipv6: ipv6)
        // After the socket listens, a connection being opened may get the port.
        let placeholder = reserve(port, ipv6: ipv6)
        guard systemListen(descriptor, 4096) == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
            let failure = Failure("listen")
            close(descriptor)
            if let placeholder { close(placeholder) }
            throw failure
        }
        return (descriptor, port, placeholder)
    }

    /// Occupies a loopback port without listening, so connections are refused. Returns `nil` if another socket has the
    /// port.
    static func reserve(_ port: UInt16, ipv6: Bool) -> Int32? { try? bound(to: port, ipv6: ipv6).socket }

    /// Pass 0 for any port.
    private static func bound(to port: UInt16, ipv6: Bool) throws(Failure) -> (socket: Int32, port: UInt16) {
        let descriptor = socket(ipv6 ? AF_INET6 : AF_INET, streamType, 0)
        guard descriptor >= 0 else { throw Failure("socket") }
        setCloseOnExec(descriptor)
        // A closed listener's connections keep its port for a while.
        setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, Int32(1))
        var port = port
        guard ipv6 ? bindIPv6(descriptor, &port) : bindIPv4(descriptor, &port) else {
            let failure = Failure("listen")
            close(descriptor)
            throw failure
        }
        return (descriptor, port)
    }

    /// Returns `nil` on failure.
    static func listen(host: UInt32, port: UInt16, backlog: Int32) -> Int32? {
        let descriptor = socket(AF_INET, streamType, 0)
        if descriptor < 0 { return nil }
        setCloseOnExec(descriptor)
        var port = port
        if bindIPv4(descriptor, &port, host: host), systemListen(descriptor, backlog) == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    /// Also returns whether the socket connected in time.
    static func connect(host: UInt32, port: UInt16, milliseconds: Int32) -> (socket: Int32, isConnected: Bool)? {
        let descriptor = socket(AF_INET, streamType, 0)
        if descriptor < 0 { return nil }
        setCloseOnExec(descriptor)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var address = address(host, port)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe systemConnect(descriptor, $0, length)
            }
        }
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return (descriptor, unsafe poll(&polled, 1, milliseconds) > 0)
    }

    static func end(_ descriptor: Int32) { close(descriptor) }

    private static func address(_ host: UInt32, _ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(host).bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    private static func bindIPv4(_ descriptor: Int32, _ port: inout UInt16, host: UInt32 = 0x7F00_0001) -> Bool {
        var address = address(host, port)
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

    /// Accepts a pending connection, for blocking calls. Returns `nil` without one, or if accepting fails.
    static func takeConnection(_ listener: Int32) -> Int32? {
        var descriptor = accept(listener, nil, nil)
        while descriptor < 0 && errno == EINTR { descriptor = accept(listener, nil, nil) }
        guard descriptor >= 0 else { return nil }
        setCloseOnExec(descriptor)
        _ = fcntl(descriptor, F_SETFL, 0)
        setOption(descriptor, tcpLevel, TCP_NODELAY, Int32(1))
        prepareForWriting(descriptor)
        return descriptor
    }

    /// Returns the byte count: 0 at the end, `nil` if the connection failed.
    static func receive(_ descriptor: Int32, into bytes: inout [UInt8], from start: Int) -> Int? {
        let count = unsafe bytes.withUnsafeMutableBytes { bytes in
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
            var count = unsafe recv(descriptor, room.baseAddress, room.count, 0)
            while count < 0 && errno == EINTR { count = unsafe recv(descriptor, room.baseAddress, room.count, 0) }
            return count
        }
        return count < 0 ? nil : count
    }

    /// Returns `false` if the connection failed. Never raises SIGPIPE.
    static func send(_ descriptor: Int32, _ bytes: Span<UInt8>) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.extracting(sent...).withUnsafeBytes { rest in
                unsafe systemSend(descriptor, rest.baseAddress, rest.count, sendFlags)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// -1 milliseconds wait without a limit.
    static func wait(_ descriptor: Int32, forInput: Bool, bell: Bell? = nil, milliseconds: Int32) -> Readiness {
        var polled = [
            pollfd(fd: descriptor, events: forInput ? Int16(POLLIN) : 0, revents: 0),
            pollfd(fd: bell?.waits ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let count = unsafe poll(&polled, bell == nil ? 1 : 2, milliseconds)
        if count <= 0 { return .timedOut }
        return polled[1].revents != 0 && polled[0].revents == 0 ? .belled : .readable
    }

    /// The end of the connection doesn't count.
    static func hasUnreadInput(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, peekFlags) > 0
    }

    static func resetOnClose(_ descriptor: Int32) {
        setOption(descriptor, SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
    }

    static func shutDown(_ descriptor: Int32) { _ = shutdown(descriptor, bothWays) }

    static func shutDownWriting(_ descriptor: Int32) { _ = shutdown(descriptor, writingWay) }

    /// A thousand connections within a process take two thousand descriptors; many systems default to 1,024.
    static func allowManyDescriptors() {
        var limit = rlimit()
        guard unsafe getrlimit(descriptorLimit, &limit) == 0, limit.rlim_cur < 8192 else { return }
        limit.rlim_cur = min(limit.rlim_max, 8192)
        _ = unsafe setrlimit(descriptorLimit, &limit)
    }

    private static func setCloseOnExec(_ descriptor: Int32) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }

    static func setOption<Value>(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Value) {
        unsafe withUnsafePointer(to: value) {
            _ = unsafe setsockopt(descriptor, level, name, $0, socklen_t(MemoryLayout<Value>.size))
        }
    }
}

// Members with the same names would hide these.
private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }
private func systemConnect(
    _ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
) -> Int32 { unsafe connect(descriptor, address, length) }
private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    unsafe send(descriptor, bytes, count, flags)
}
