#if os(Linux)
import ErrandEssentials
import ErrandTesting
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Declared here, because Swift's Glibc module doesn't export this function.
@_silgen_name("accept4")
private func acceptClosedOnExec(
    _ listener: Int32, _ address: UnsafeMutablePointer<sockaddr>?, _ size: UnsafeMutablePointer<socklen_t>?,
    _ flags: Int32
) -> Int32

/// Listens on the loopback interface and passes every connection to a closure on a new thread. Use it to send bytes
/// that an HTTP server wouldn't send.
package final class RawServer: Sendable {
    package let port: UInt16
    private let listener: Int32
    private let count = Atomic(0)

    package convenience init(_ handle: @escaping @Sendable (Peer) -> Void) throws { try self.init(ipv6: false, handle) }

    package convenience init(ipv6: Bool, _ handle: @escaping @Sendable (Peer) -> Void) throws {
        if ipv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_addr = in6addr_loopback
            try self.init(address, AF_INET6, handle)
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            try self.init(address, AF_INET, handle)
        }
    }

    package convenience init(unixSocket path: String, _ handle: @escaping @Sendable (Peer) -> Void) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        try self.init(address, AF_UNIX, handle)
    }

    private init<Address>(_ address: Address, _ family: Int32, _ handle: @escaping @Sendable (Peer) -> Void) throws {
        let listener = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = address
        var size = socklen_t(MemoryLayout<Address>.size)
        let bound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 1024) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard listener >= 0, bound else { throw Failure.noSocket(errno) }
        // The port has the same position in both address families.
        port =
            family == AF_UNIX
            ? 0 : withUnsafeBytes(of: &address) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
        self.listener = listener
        CreationObservers.notify(of: self)
        Self.thread { [weak self] in
            while true {
                // If a child process kept the descriptor open, the client wouldn't see a close or a reset.
                let descriptor = acceptClosedOnExec(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
                if descriptor < 0 {
                    // The server was deallocated.
                    if errno == EINVAL { break }
                    usleep(1000)
                    continue
                }
                self?.count.add(1, ordering: .relaxed)
                Self.thread {
                    let peer = Peer(descriptor)
                    handle(peer)
                    peer.close()
                }
            }
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    package var accepted: Int { count.load(ordering: .relaxed) }

    /// The number of IPv4 clients that the kernel still considers connected. On a busy machine it notices some
    /// milliseconds after the server has closed a connection.
    package var connectedClients: Int {
        let table = (try? String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)) ?? ""
        return table.split(separator: "\n").count {
            // Number, local address, remote address, state; state 01 is an established connection.
            let fields = $0.split(separator: " ")
            guard fields.count > 3, fields[3] == "01" else { return false }
            return fields[2].split(separator: ":").last.flatMap { UInt16($0, radix: 16) } == port
        }
    }

    package func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    package enum Failure: Error { case noSocket(Int32) }

    package static func thread(_ body: @escaping @Sendable () -> Void) {
        final class Box: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Box(body))
        let code = pthread_create(
            &thread, nil,
            { box in
                if let box { Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body() }
                return nil
            }, box.toOpaque())
        precondition(code == 0, "no thread")
        pthread_detach(thread)
    }
}
#endif
