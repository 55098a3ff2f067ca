import ErrandEssentials
import ErrandSupport

// Pointers refer to local variables or arrays for the duration of a call. The system reads and writes at most the length
// passed with them.

/// The system calls of the listener. All sockets are on the loopback interface and don't block.
enum LoopbackSocket {
    /// Returns a listening socket and its port, or nil if the system doesn't have the address.
    static func listen(isIPv6: Bool) -> (socket: Int32, port: UInt16)? {
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, streamType, 0)
        guard descriptor >= 0 else { return nil }
        prepare(descriptor)
        guard let port = isIPv6 ? bindIPv6(descriptor) : bindIPv4(descriptor), systemListen(descriptor, 16) == 0 else {
            close(descriptor)
            return nil
        }
        return (descriptor, port)
    }

    static func accept(_ listener: Int32) -> Int32? {
        let descriptor = systemAccept(listener)
        guard descriptor >= 0 else { return nil }
        prepare(descriptor)
        return descriptor
    }

    static func close(_ descriptor: Int32) { systemClose(descriptor) }

    /// Waits until at least one of the descriptors has input or has ended, and returns those.
    static func waitForInput(_ descriptors: [Int32]) -> Set<Int32> {
        var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while unsafe poll(&polled, nfds_t(polled.count), -1) < 0 && errno == EINTR {}
        return Set(polled.lazy.filter { $0.revents != 0 }.map(\.fd))
    }

    /// Appends the bytes that have arrived, up to a little more than a request may have. Returns false at the end.
    static func receive(_ descriptor: Int32, into bytes: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= LoopbackRequest.maximumBytes {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            if count < 0 { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR }
            if count == 0 { return false }
            bytes += buffer.prefix(count)
        }
        return true
    }

    /// Sends a short response, which fits into the socket's buffer, and ends the connection.
    static func send(_ descriptor: Int32, _ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe systemSend(descriptor, bytes, bytes.count, sendFlags)
        _ = shutdown(descriptor, writingWay)
    }

    private static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        #if canImport(Darwin)
        var one: Int32 = 1
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    private static func bindIPv4(_ descriptor: Int32) -> UInt16? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        guard bindAny(descriptor, &address) else { return nil }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func bindIPv6(_ descriptor: Int32) -> UInt16? {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        guard bindAny(descriptor, &address) else { return nil }
        return UInt16(bigEndian: address.sin6_port)
    }

    /// Binds a socket to an address with any port, and reads the port.
    private static func bindAny<Address>(_ descriptor: Int32, _ address: inout Address) -> Bool {
        var length = socklen_t(MemoryLayout<Address>.size)
        return unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
    }

    #if canImport(Darwin)
    private static var streamType: Int32 { SOCK_STREAM }
    private static var sendFlags: Int32 { 0 }
    private static var writingWay: Int32 { SHUT_WR }
    #else
    #if canImport(Glibc)
    private static var streamType: Int32 { Int32(SOCK_STREAM.rawValue) }
    #else
    private static var streamType: Int32 { SOCK_STREAM }
    #endif
    private static var sendFlags: Int32 { Int32(MSG_NOSIGNAL) }
    private static var writingWay: Int32 { Int32(SHUT_WR) }
    #endif
}

// Members with the same names would hide these.
private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }
private func systemAccept(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }
private func systemClose(_ descriptor: Int32) { _ = close(descriptor) }
private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int, _ flags: Int32) -> Int {
    unsafe send(descriptor, bytes, count, flags)
}
