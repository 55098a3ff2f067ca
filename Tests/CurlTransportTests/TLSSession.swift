#if os(Linux)
import ErrandEssentials
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The server's side of TLS, with the OpenSSL library of the `openssl` command. Use it to send bytes over TLS that an
/// HTTP server wouldn't send.
final class TLSContext: @unchecked Sendable {
    // Sendable: OpenSSL's contexts are designed to be shared.
    fileprivate let api: API
    private let context: OpaquePointer

    static let isAvailable = API.shared != nil

    /// Creates a context that selects HTTP/2 (RFC 7301), or no protocol.
    init(certificate: String, key: String, choosesHTTP2: Bool = true) throws {
        api = try #require(API.shared)
        context = try #require(api.makeContext(api.serverMethod()))
        guard api.useCertificate(context, certificate) == 1, api.useKey(context, key, 1) == 1 else {
            throw Fault.certificate
        }
        guard choosesHTTP2 else { return }
        api.setSelection(
            context,
            { _, chosen, length, _, _, _ in
                chosen?.pointee = UnsafePointer(TLSContext.http2)
                length?.pointee = 2
                return 0
            }, nil)
    }

    private nonisolated(unsafe) static let http2: UnsafeMutablePointer<UInt8> = {
        let name = UnsafeMutablePointer<UInt8>.allocate(capacity: 2)
        (name[0], name[1]) = (UInt8(ascii: "h"), UInt8(ascii: "2"))
        return name
    }()

    deinit { api.freeContext(context) }

    enum Fault: Error { case certificate }

    func accept(_ descriptor: Int32) -> TLSSession? {
        guard let session = api.make(context) else { return nil }
        guard api.setDescriptor(session, descriptor) == 1, api.accept(session) == 1 else {
            api.free(session)
            return nil
        }
        return TLSSession(session, self)
    }

    fileprivate struct API: Sendable {
        typealias Selection =
            @convention(c) (
                OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
                UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
            ) -> Int32
        typealias File = @convention(c) (OpaquePointer, UnsafePointer<CChar>) -> Int32
        typealias TypedFile = @convention(c) (OpaquePointer, UnsafePointer<CChar>, Int32) -> Int32
        typealias Bytes = @convention(c) (OpaquePointer, UnsafeMutableRawPointer?, Int32) -> Int32

        let serverMethod: @convention(c) () -> OpaquePointer?
        let makeContext: @convention(c) (OpaquePointer?) -> OpaquePointer?
        let freeContext: @convention(c) (OpaquePointer) -> Void
        let useCertificate: File
        let useKey: TypedFile
        let setSelection: @convention(c) (OpaquePointer, Selection?, UnsafeMutableRawPointer?) -> Void
        let make: @convention(c) (OpaquePointer) -> OpaquePointer?
        let free: @convention(c) (OpaquePointer) -> Void
        let setDescriptor: @convention(c) (OpaquePointer, Int32) -> Int32
        let accept: @convention(c) (OpaquePointer) -> Int32
        let read: Bytes
        let write: Bytes
        let pending: @convention(c) (OpaquePointer) -> Int32
        let shutdown: @convention(c) (OpaquePointer) -> Int32

        static let shared: API? = {
            guard let library = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL) else { return nil }
            func find<Function>(_ name: String, _: Function.Type) -> Function? {
                dlsym(library, name).map { unsafeBitCast($0, to: Function.self) }
            }
            guard let method = find("TLS_server_method", (@convention(c) () -> OpaquePointer?).self),
                let makeContext = find("SSL_CTX_new", (@convention(c) (OpaquePointer?) -> OpaquePointer?).self),
                let freeContext = find("SSL_CTX_free", (@convention(c) (OpaquePointer) -> Void).self),
                let certificate = find("SSL_CTX_use_certificate_chain_file", File.self),
                let key = find("SSL_CTX_use_PrivateKey_file", TypedFile.self),
                let selection = find(
                    "SSL_CTX_set_alpn_select_cb",
                    (@convention(c) (OpaquePointer, Selection?, UnsafeMutableRawPointer?) -> Void).self),
                let make = find("SSL_new", (@convention(c) (OpaquePointer) -> OpaquePointer?).self),
                let free = find("SSL_free", (@convention(c) (OpaquePointer) -> Void).self),
                let descriptor = find("SSL_set_fd", (@convention(c) (OpaquePointer, Int32) -> Int32).self),
                let accept = find("SSL_accept", (@convention(c) (OpaquePointer) -> Int32).self),
                let read = find("SSL_read", Bytes.self), let write = find("SSL_write", Bytes.self),
                let pending = find("SSL_pending", (@convention(c) (OpaquePointer) -> Int32).self),
                let shutdown = find("SSL_shutdown", (@convention(c) (OpaquePointer) -> Int32).self)
            else { return nil }
            return API(
                serverMethod: method, makeContext: makeContext, freeContext: freeContext, useCertificate: certificate,
                useKey: key, setSelection: selection, make: make, free: free, setDescriptor: descriptor,
                accept: accept, read: read, write: write, pending: pending, shutdown: shutdown)
        }()
    }
}

/// One TLS connection. Use it on one thread.
final class TLSSession {
    private let session: OpaquePointer
    private let context: TLSContext

    fileprivate init(_ session: OpaquePointer, _ context: TLSContext) {
        (self.session, self.context) = (session, context)
    }

    deinit { context.api.free(session) }

    /// Returns nil if the client has disconnected.
    func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let size = bytes.withUnsafeMutableBytes { buffer in
                context.api.read(session, buffer.baseAddress.map { $0 + filled }, Int32(count - filled))
            }
            if size <= 0 { return nil }
            filled += Int(size)
        }
        return bytes
    }

    /// Returns the bytes that have arrived, at most a record, or nil if the client has disconnected.
    func readSome() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 1 << 14)
        let size = bytes.withUnsafeMutableBytes { context.api.read(session, $0.baseAddress, Int32($0.count)) }
        return size > 0 ? Array(bytes.prefix(Int(size))) : nil
    }

    /// Whether bytes have been decrypted that nobody has read.
    var hasPending: Bool { context.api.pending(session) > 0 }

    /// Tells the client that no more bytes follow (RFC 8446, section 6.1).
    func endSending() { _ = context.api.shutdown(session) }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var bytes = bytes
        return bytes.withUnsafeMutableBytes { context.api.write(session, $0.baseAddress, Int32($0.count)) } > 0
    }
}
#endif
