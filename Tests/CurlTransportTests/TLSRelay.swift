#if os(Linux)
import ErrandConformance
import ErrandEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Terminates TLS before a server on the loopback interface, and passes on bytes, closes and resets.
final class TLSRelay: WireRelay {
    let url: String
    private let server: RawServer

    init(to port: Int, _ context: TLSContext) throws {
        server = try RawServer { client in
            // OpenSSL writes without MSG_NOSIGNAL.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            guard let upstream = Self.connection(to: port) else { return }
            defer { close(upstream) }
            guard let session = context.accept(client.descriptor) else { return }
            if !Self.pass(session, client.descriptor, upstream) { client.reset() }
        }
        url = "https://localhost:\(server.port)"
    }

    static func connection(to port: Int) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    /// Returns false if the server has reset its connection.
    private static func pass(_ session: TLSSession, _ client: Int32, _ upstream: Int32) -> Bool {
        var polls = [client, upstream].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if !session.hasPending, poll(&polls, 2, -1) < 0 { return true }
            if session.hasPending || polls[0].revents != 0 {
                guard let bytes = session.readSome() else { return true }
                sendAll(bytes, to: upstream)
            }
            guard polls[1].revents != 0 else { continue }
            polls[1].revents = 0
            let count = recv(upstream, &buffer, buffer.count, 0)
            if count < 0 { return false }
            if count == 0 {
                session.endSending()
                return true
            }
            if !session.write(Array(buffer.prefix(count))) { return true }
        }
    }

    /// Ignores a server that has gone, because its response can still be read.
    static func sendAll(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }
}
#endif
