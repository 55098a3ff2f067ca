import ErrandPlatform
import ErrandSupport

// Safe: pointers in this file refer to local variables, spans, or arrays that outlive the call. The system accesses at
// most the length passed with them.

/// Calls functions of the system, and calls them again after interruptions.
enum POSIX {
    enum Readiness { case readable, belled, timedOut }

    /// Starts listening on a port. `placeholder` is a socket that keeps the port after the listener closes. It's `nil`
    /// if the system doesn't allow two sockets on the port.
    static func listen(
        ipv6: Bool
    ) throws(LoopbackSocket.Failure) -> (socket: Int32, port: UInt16, placeholder: Int32?) {
        let (descriptor, port) = try LoopbackSocket.bound(to: 0, ipv6: ipv6)
        // The port is reserved now. After the listener closes, an outgoing connection could take the port.
        let placeholder = reserve(port, ipv6: ipv6)
        do throws(LoopbackSocket.Failure) { try LoopbackSocket.listen(descriptor, 0, backlog: 4096) } catch {
            if let placeholder { close(placeholder) }
            throw error
        }
        return (descriptor, port, placeholder)
    }

    /// Reserves a port without listening on it, so connections are refused. Returns `nil` if the port is taken.
    static func reserve(_ port: UInt16, ipv6: Bool) -> Int32? {
        try? LoopbackSocket.bound(to: port, ipv6: ipv6).socket
    }

    static func listen(host: UInt32, port: UInt16, backlog: Int32) -> Int32? {
        guard let descriptor = LoopbackSocket.make(ipv6: false) else { return nil }
        var port = port
        if LoopbackSocket.bindIPv4(descriptor, &port, host: host), systemListen(descriptor, backlog) == 0 {
            return descriptor
        }
        close(descriptor)
        return nil
    }

    static func connect(host: UInt32, port: UInt16, milliseconds: Int32) -> (socket: Int32, isConnected: Bool)? {
        guard let descriptor = LoopbackSocket.make(ipv6: false) else { return nil }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var address = LoopbackSocket.address(host, port)
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

    /// Accepts a connection, and makes its socket blocking. Returns `nil` if a connection isn't waiting or accepting
    /// fails.
    static func takeConnection(_ listener: Int32) -> Int32? {
        guard let descriptor = LoopbackSocket.accept(listener) else { return nil }
        _ = fcntl(descriptor, F_SETFL, 0)
        return descriptor
    }

    /// Receives bytes. Returns their number, or 0 at the end of the connection. Returns `nil` if the connection failed.
    static func receive(_ descriptor: Int32, into bytes: inout [UInt8], from start: Int) -> Int? {
        let count = LoopbackSocket.read(descriptor, into: &bytes, from: start)
        return count < 0 ? nil : count
    }

    /// Sends bytes. Returns `false` if the connection failed. It never raises SIGPIPE.
    static func send(_ descriptor: Int32, _ bytes: Span<UInt8>) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = LoopbackSocket.write(descriptor, bytes.extracting(sent...))
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Waits until a descriptor is ready. -1 milliseconds means that the wait isn't limited.
    static func wait(_ descriptor: Int32, forInput: Bool, bell: Bell? = nil, milliseconds: Int32) -> Readiness {
        var polled = [
            pollfd(fd: descriptor, events: forInput ? Int16(POLLIN) : 0, revents: 0),
            pollfd(fd: bell?.waits ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let count = unsafe poll(&polled, bell == nil ? 1 : 2, milliseconds)
        if count <= 0 { return .timedOut }
        return polled[1].revents != 0 && polled[0].revents == 0 ? .belled : .readable
    }

    /// Whether received bytes haven't been read yet. Returns `false` at the end of the connection.
    static func hasUnreadInput(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, peekFlags) > 0
    }

    static func resetOnClose(_ descriptor: Int32) {
        LoopbackSocket.setOption(descriptor, SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
    }

    static func shutDown(_ descriptor: Int32) { _ = shutdown(descriptor, bothWays) }

    static func shutDownWriting(_ descriptor: Int32) { LoopbackSocket.shutDownWriting(descriptor) }

    /// Raises the limit of open files. A thousand connections within a process need two thousand descriptors, but many
    /// systems allow only 1,024.
    static func allowManyDescriptors() {
        var limit = rlimit()
        guard unsafe getrlimit(descriptorLimit, &limit) == 0, limit.rlim_cur < 8192 else { return }
        limit.rlim_cur = min(limit.rlim_max, 8192)
        _ = unsafe setrlimit(descriptorLimit, &limit)
    }
}

// This function isn't in the enum, because members of the enum with the same names hide the system's functions.
private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }
private func systemConnect(
    _ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
) -> Int32 { unsafe connect(descriptor, address, length) }
