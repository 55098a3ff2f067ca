#if !canImport(CryptoKit)
import ErrandSupport
import Synchronization

extension PlatformSHA256 {
    static func platform() -> (any RunningSHA256)? { OpenSSLSHA256() }
}

/// SHA-256 by OpenSSL's libcrypto, loaded when it is first needed: it uses the processor's SHA instructions.
struct OpenSSLSHA256: RunningSHA256 {
    private let context: Context

    /// Nil where there is no libcrypto.
    init?() {
        guard let library = Library.shared(), let context = Context(library) else { return nil }
        self.context = context
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) { context.update(bytes) }
    func finalized() -> [UInt8] { context.finalized() }

    /// Owned by one digest, which one task at a time updates.
    // Proof of Sendable: the only reference is the digest's, and a value that is mutated is not shared.
    private final class Context: @unchecked Sendable {
        private let library: Library
        private let context: OpaquePointer

        init?(_ library: Library) {
            guard let context = library.new() else { return nil }
            guard library.begin(context, library.sha256(), nil) == 1 else {
                library.free(context)
                return nil
            }
            (self.library, self.context) = (library, context)
        }

        deinit { library.free(context) }

        func update(_ bytes: UnsafeRawBufferPointer) {
            if let base = bytes.baseAddress { _ = library.update(context, base, bytes.count) }
        }

        func finalized() -> [UInt8] {
            var result = [UInt8](repeating: 0, count: 32)
            var count: UInt32 = 0
            return library.end(context, &result, &count) == 1 ? result : []
        }
    }

    /// The functions of the EVP interface that this needs (EVP_DigestInit(3)).
    private struct Library: Sendable {
        let new: @convention(c) () -> OpaquePointer?
        let free: @convention(c) (OpaquePointer?) -> Void
        let sha256: @convention(c) () -> OpaquePointer?
        let begin: @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32
        let update: @convention(c) (OpaquePointer?, UnsafeRawPointer, Int) -> Int32
        let end: @convention(c) (OpaquePointer?, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt32>) -> Int32

        private static let loaded = Mutex<Library?>(nil)

        /// Nil where there is none. Only success is kept: a process with too many open files may load it later.
        static func shared() -> Library? {
            loaded.withLock { loaded in
                if loaded == nil { loaded = load() }
                return loaded
            }
        }

        private static func load() -> Library? {
            for name in ["libcrypto.so.3", "libcrypto.so.1.1"] {
                guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { continue }
                if let library = Library(handle) { return library }
                dlclose(handle)
            }
            return nil
        }

        private init?(_ handle: UnsafeMutableRawPointer) {
            guard let new = dlsym(handle, "EVP_MD_CTX_new"), let free = dlsym(handle, "EVP_MD_CTX_free"),
                let sha256 = dlsym(handle, "EVP_sha256"), let begin = dlsym(handle, "EVP_DigestInit_ex"),
                let update = dlsym(handle, "EVP_DigestUpdate"), let end = dlsym(handle, "EVP_DigestFinal_ex")
            else { return nil }
            self.new = unsafeBitCast(new, to: (@convention(c) () -> OpaquePointer?).self)
            self.free = unsafeBitCast(free, to: (@convention(c) (OpaquePointer?) -> Void).self)
            self.sha256 = unsafeBitCast(sha256, to: (@convention(c) () -> OpaquePointer?).self)
            self.begin = unsafeBitCast(
                begin, to: (@convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32).self)
            self.update = unsafeBitCast(
                update, to: (@convention(c) (OpaquePointer?, UnsafeRawPointer, Int) -> Int32).self)
            self.end = unsafeBitCast(
                end,
                to: (@convention(c) (OpaquePointer?, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt32>) -> Int32)
                    .self)
        }
    }
}
#endif
