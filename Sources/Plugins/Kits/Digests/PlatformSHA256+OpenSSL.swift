#if !canImport(CryptoKit)
import ErrandSupport
import Synchronization

extension PlatformSHA256 {
    static func platform() -> (any RunningSHA256)? { OpenSSLSHA256() }
}

/// SHA-256 from OpenSSL's libcrypto, which uses the processor's SHA instructions. libcrypto is loaded on first use.
struct OpenSSLSHA256: RunningSHA256 {
    private let context: Context

    init?() {
        guard let library = Library.shared(), let context = Context(library) else { return nil }
        self.context = context
    }

    mutating func update(_ bytes: Span<UInt8>) { context.update(bytes) }
    func finalized() -> [UInt8] { context.finalized() }

    /// libcrypto's state of a digest. It belongs to one digest, which only one task at a time updates.
    // Safe: `context` is created here and freed once in `deinit`. It leaves the object only as an argument to
    // libcrypto.
    // Sendable: only the digest refers to the object, and only one task at a time can mutate the digest.
    @safe
    private final class Context: @unchecked Sendable {
        private let library: Library
        private let context: OpaquePointer

        init?(_ library: Library) {
            guard let context = unsafe library.new() else { return nil }
            guard unsafe library.begin(context, library.sha256(), nil) == 1 else {
                unsafe library.free(context)
                return nil
            }
            self.library = library
            unsafe self.context = context
        }

        deinit { unsafe library.free(context) }

        func update(_ bytes: Span<UInt8>) {
            // The span owns the memory and outlives the call. libcrypto reads `count` bytes.
            unsafe bytes.withUnsafeBytes { bytes in
                if let base = bytes.baseAddress { _ = unsafe library.update(context, base, bytes.count) }
            }
        }

        func finalized() -> [UInt8] {
            // Large enough for any digest (EVP_MAX_MD_SIZE). libcrypto writes the 32 bytes of SHA-256.
            var result = [UInt8](repeating: 0, count: 64)
            var count: UInt32 = 0
            guard unsafe library.end(context, &result, &count) == 1 else { return [] }
            return Array(result.prefix(Int(count)))
        }
    }

    // Safe: libcrypto is never unloaded once its functions were found.
    @safe
    private struct Library: Sendable {
        let new: @convention(c) () -> OpaquePointer?
        let free: @convention(c) (OpaquePointer?) -> Void
        let sha256: @convention(c) () -> OpaquePointer?
        let begin: @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32
        let update: @convention(c) (OpaquePointer?, UnsafeRawPointer, Int) -> Int32
        let end: @convention(c) (OpaquePointer?, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt32>) -> Int32

        private static let loaded = Mutex<Library?>(nil)

        /// Returns libcrypto, or `nil` if it isn't available. A failure isn't cached: if loading failed because the
        /// process had too many open files, a later call can succeed.
        static func shared() -> Library? {
            loaded.withLock { loaded in
                if loaded == nil { loaded = load() }
                return loaded
            }
        }

        private static func load() -> Library? {
            for name in ["libcrypto.so.3", "libcrypto.so.1.1"] {
                guard let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else { continue }
                if let library = unsafe Library(handle) { return library }
                unsafe dlclose(handle)
            }
            return nil
        }

        private init?(_ handle: UnsafeMutableRawPointer) {
            guard let new = unsafe dlsym(handle, "EVP_MD_CTX_new"), let free = unsafe dlsym(handle, "EVP_MD_CTX_free"),
                let sha256 = unsafe dlsym(handle, "EVP_sha256"),
                let begin = unsafe dlsym(handle, "EVP_DigestInit_ex"),
                let update = unsafe dlsym(handle, "EVP_DigestUpdate"),
                let end = unsafe dlsym(handle, "EVP_DigestFinal_ex")
            else { return nil }
            unsafe self.new = Self.function(new)
            unsafe self.free = Self.function(free)
            unsafe self.sha256 = Self.function(sha256)
            unsafe self.begin = Self.function(begin)
            unsafe self.update = Self.function(update)
            unsafe self.end = Self.function(end)
        }

        /// Returns a symbol's address as a function. POSIX guarantees that `dlsym` returns C functions as pointers.
        private static func function<Function>(_ symbol: UnsafeMutableRawPointer) -> Function {
            unsafe withUnsafeBytes(of: symbol) { unsafe $0.load(as: Function.self) }
        }
    }
}
#endif
