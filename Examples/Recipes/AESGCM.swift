import Foundation

/// AES-256 in Galois/Counter Mode: a 12-byte nonce, the ciphertext, a 16-byte tag. Uses CryptoKit if available,
/// otherwise the system's OpenSSL, loaded at run time.
struct AESGCM: BodySealer {
    enum Failure: Error { case wrongKey, unavailable, notAuthentic }

    private let key: Data

    /// - Parameter key: 32 bytes.
    init(key: Data) { self.key = key }

    func seal(_ data: Data) throws -> Data { try seal(data, nonce: Data((0..<12).map { _ in .random(in: 0...255) })) }
}

#if canImport(CryptoKit)
import CryptoKit

extension AESGCM {
    static var isAvailable: Bool { true }

    func seal(_ data: Data, nonce: Data) throws -> Data {
        let box = try AES.GCM.seal(data, using: SymmetricKey(data: key), nonce: AES.GCM.Nonce(data: nonce))
        return box.nonce + box.ciphertext + box.tag
    }

    func open(_ data: Data) throws -> Data {
        try AES.GCM.open(AES.GCM.SealedBox(combined: data), using: SymmetricKey(data: key))
    }
}
#else
extension AESGCM {
    static var isAvailable: Bool { OpenSSL.shared != nil }

    func seal(_ data: Data, nonce: Data) throws -> Data {
        let (text, tag) = try Self.run(data, key, nonce, tag: nil)
        return nonce + text + tag
    }

    func open(_ data: Data) throws -> Data {
        guard data.count >= 28 else { throw Failure.notAuthentic }
        return try Self.run(
            data.dropFirst(12).dropLast(16), key, Data(data.prefix(12)), tag: Data(data.suffix(16))
        ).text
    }

    /// Encrypts, or decrypts if there is a tag.
    private static func run(_ data: Data, _ key: Data, _ nonce: Data, tag: Data?) throws -> (text: Data, tag: Data) {
        guard key.count == 32 else { throw Failure.wrongKey }
        guard let ssl = OpenSSL.shared, let context = ssl.new() else { throw Failure.unavailable }
        defer { ssl.free(context) }
        let (key, nonce, input) = (Array(key), Array(nonce), Array(data))
        var (output, count, rest) = ([UInt8](repeating: 0, count: input.count + 16), Int32(0), Int32(0))
        var mark = tag.map(Array.init) ?? [UInt8](repeating: 0, count: 16)
        guard ssl.begin(context, ssl.cipher(), nil, key, nonce, tag == nil ? 1 : 0) == 1,
            ssl.update(context, &output, &count, input, Int32(input.count)) == 1
        else { throw Failure.unavailable }
        if tag != nil, ssl.control(context, OpenSSL.setTag, 16, &mark) != 1 { throw Failure.unavailable }
        var end = [UInt8](repeating: 0, count: 16)
        guard ssl.finish(context, &end, &rest) == 1 else { throw Failure.notAuthentic }
        if tag == nil, ssl.control(context, OpenSSL.getTag, 16, &mark) != 1 { throw Failure.unavailable }
        return (Data(output.prefix(Int(count)) + end.prefix(Int(rest))), Data(mark))
    }
}

/// The functions of libcrypto, version 1.1 or 3.
private nonisolated struct OpenSSL: Sendable {
    typealias Bytes = UnsafePointer<UInt8>
    typealias Room = UnsafeMutablePointer<UInt8>
    typealias Count = UnsafeMutablePointer<Int32>
    typealias Pointer = OpaquePointer

    let new: @convention(c) @Sendable () -> Pointer?
    let free: @convention(c) @Sendable (Pointer) -> Void
    let cipher: @convention(c) @Sendable () -> Pointer?
    let begin: @convention(c) @Sendable (Pointer, Pointer?, Pointer?, Bytes, Bytes, Int32) -> Int32
    let update: @convention(c) @Sendable (Pointer, Room, Count, Bytes, Int32) -> Int32
    let finish: @convention(c) @Sendable (Pointer, Room, Count) -> Int32
    let control: @convention(c) @Sendable (Pointer, Int32, Int32, Room) -> Int32

    static let (getTag, setTag) = (Int32(0x10), Int32(0x11))
    static let shared = OpenSSL()

    private init?() {
        let names = ["libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"]
        guard let library = names.lazy.compactMap({ dlopen($0, RTLD_NOW) }).first else { return nil }
        func function<Function>(_ name: String, _: Function.Type = Function.self) -> Function? {
            dlsym(library, name).map { unsafeBitCast($0, to: Function.self) }
        }
        guard let new = function("EVP_CIPHER_CTX_new", (@convention(c) @Sendable () -> Pointer?).self),
            let free = function("EVP_CIPHER_CTX_free", (@convention(c) @Sendable (Pointer) -> Void).self),
            let cipher = function("EVP_aes_256_gcm", (@convention(c) @Sendable () -> Pointer?).self),
            let begin = function(
                "EVP_CipherInit_ex",
                (@convention(c) @Sendable (Pointer, Pointer?, Pointer?, Bytes, Bytes, Int32) -> Int32).self),
            let update = function(
                "EVP_CipherUpdate", (@convention(c) @Sendable (Pointer, Room, Count, Bytes, Int32) -> Int32).self),
            let finish = function(
                "EVP_CipherFinal_ex", (@convention(c) @Sendable (Pointer, Room, Count) -> Int32).self),
            let control = function(
                "EVP_CIPHER_CTX_ctrl", (@convention(c) @Sendable (Pointer, Int32, Int32, Room) -> Int32).self)
        else { return nil }
        (self.new, self.free, self.cipher, self.begin) = (new, free, cipher, begin)
        (self.update, self.finish, self.control) = (update, finish, control)
    }
}
#endif
