#if os(Linux)
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Swift's Glibc module does not bring it.
@_silgen_name("accept4")
private func acceptClosedOnExec(
    _ listener: Int32, _ address: UnsafeMutablePointer<sockaddr>?, _ size: UnsafeMutablePointer<socklen_t>?,
    _ flags: Int32
) -> Int32

// `Peer` has methods of the same names.
private typealias LingerOption = linger
private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }
private func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, bytes, count, flags)
}

/// A listening socket on the loopback interface that gives every connection to a closure on a thread of its own: for
/// bytes that no HTTP server would send.
final class RawServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let count = Atomic(0)

    convenience init(_ handle: @escaping @Sendable (Peer) -> Void) throws { try self.init(ipv6: false, handle) }

    convenience init(ipv6: Bool, _ handle: @escaping @Sendable (Peer) -> Void) throws {
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

    convenience init(unixSocket path: String, _ handle: @escaping @Sendable (Peer) -> Void) throws {
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
        // Both families have the port at the same place.
        port =
            family == AF_UNIX
            ? 0 : withUnsafeBytes(of: &address) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
        self.listener = listener
        Self.thread { [weak self] in
            while true {
                // A child process that kept it open would turn a close or a reset into silence.
                let descriptor = acceptClosedOnExec(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
                if descriptor < 0 { break }
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

    /// Connections taken so far.
    var accepted: Int { count.load(ordering: .relaxed) }

    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    enum Failure: Error { case noSocket(Int32) }

    static func thread(_ body: @escaping @Sendable () -> Void) {
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

/// One connection of a ``RawServer``, for one thread.
final class Peer {
    let descriptor: Int32
    private var buffered: [UInt8] = []
    /// How many of them are taken.
    private var offset = 0
    private var isClosed = false

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var time = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// The client's IPv4 address.
    var remoteAddress: String {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
        }
        return withUnsafeBytes(of: address.sin_addr) { $0.map(String.init).joined(separator: ".") }
    }

    /// The head of the next request with its blank line; nil when the client has gone.
    func readHead() -> String? {
        let end: [UInt8] = [13, 10, 13, 10]
        while true {
            if let range = buffered[offset...].firstRange(of: end) {
                defer { offset = range.upperBound }
                return String(decoding: buffered[offset..<range.upperBound], as: UTF8.self)
            }
            guard fill() else { return nil }
        }
    }

    /// That many bytes, or fewer when the client has gone.
    func read(_ count: Int) -> [UInt8] {
        while buffered.count - offset < count, fill() {}
        let bytes = Array(buffered[offset..<min(offset + count, buffered.count)])
        offset += bytes.count
        return bytes
    }

    /// A chunked body without its framing; nil if it does not end.
    func readChunked() -> [UInt8]? {
        var body: [UInt8] = []
        while true {
            var line: [UInt8] = []
            while line.last != 10 {
                guard let byte = read(1).first else { return nil }
                line.append(byte)
            }
            let text = String(decoding: line.dropLast(2), as: UTF8.self)
            guard let size = Int(text, radix: 16) else { return nil }
            let chunk = read(size + 2)
            guard chunk.count == size + 2 else { return nil }
            if size == 0 { return body }
            body += chunk.dropLast(2)
        }
    }

    /// Everything until the client goes.
    func drain() -> Int {
        var count = buffered.count - offset
        offset = buffered.count
        while fill() {
            count += buffered.count
            offset = buffered.count
        }
        return count
    }

    private func fill() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count <= 0 { return false }
        if offset == buffered.count {
            buffered.removeAll(keepingCapacity: true)
        } else {
            buffered.removeSubrange(..<offset)
        }
        offset = 0
        buffered += bytes[..<count]
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                sendBytes(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            sent += count
        }
        return true
    }

    /// Nothing more is sent; what the client sends can still be read.
    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Ends the connection with a reset instead of an end.
    func reset() {
        var linger = LingerOption(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<LingerOption>.size))
        close()
    }

    func close() {
        if !isClosed { closeDescriptor(descriptor) }
        isClosed = true
    }
}
#endif
