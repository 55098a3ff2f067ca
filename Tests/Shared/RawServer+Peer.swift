#if os(Linux)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

// Other names for C's `linger` and `close`, because `Peer` has methods with these names.
private typealias LingerOption = linger
private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }
private func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, bytes, count, flags)
}

/// One connection of a ``RawServer``. Use it on one thread.
package final class Peer {
    package let descriptor: Int32
    private var buffered: [UInt8] = []
    /// The number of consumed bytes in `buffered`.
    private var offset = 0
    private var isClosed = false

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        // Longer than any test takes, so a connection never times out unless a test asks for it.
        var time = timeval(tv_sec: 1200, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    package var remoteAddress: String {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
        }
        return withUnsafeBytes(of: address.sin_addr) { $0.map(String.init).joined(separator: ".") }
    }

    /// Reads the head of the next request with its blank line. Returns nil if the client has disconnected.
    package func readHead() -> String? { readHeadBytes().map { String(decoding: $0, as: UTF8.self) } }

    /// Reads the same bytes as ``readHead()``, which need not be UTF-8.
    package func readHeadBytes() -> [UInt8]? {
        let end: [UInt8] = [13, 10, 13, 10]
        while true {
            if let range = buffered[offset...].firstRange(of: end) {
                defer { offset = range.upperBound }
                return Array(buffered[offset..<range.upperBound])
            }
            guard fill() else { return nil }
        }
    }

    /// Reads this many bytes, or fewer if the client disconnects.
    package func read(_ count: Int) -> [UInt8] {
        while buffered.count - offset < count, fill() {}
        let bytes = Array(buffered[offset..<min(offset + count, buffered.count)])
        offset += bytes.count
        return bytes
    }

    /// Reads a chunked body and removes its framing. Returns nil if the body doesn't end.
    package func readChunked() -> [UInt8]? {
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

    /// Reads everything until the client disconnects, and returns the number of bytes.
    package func drain() -> Int {
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
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
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

    /// Ends sending. The client's bytes can still be read.
    package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    package func reset() {
        var linger = LingerOption(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<LingerOption>.size))
        close()
    }

    package func close() {
        if !isClosed { closeDescriptor(descriptor) }
        isClosed = true
    }
}
#endif
