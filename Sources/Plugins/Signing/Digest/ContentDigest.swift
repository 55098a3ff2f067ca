public import ErrandEssentials
import ErrandHTTP
import ErrandHTTPFields
import ErrandKeys
import Synchronization

/// The digests in a `Content-Digest` or `Repr-Digest` field (RFC 9530).
///
/// ```swift
/// let field = try ContentDigest(of: data, [.sha256]).fieldValue
/// let digest = try ContentDigest(parsing: response.headers[.contentDigest] ?? "")
/// let isIntact = try digest.matches(response.data)
/// ```
public struct ContentDigest: Sendable, Hashable {
    /// An algorithm that RFC 9530 considers secure.
    public enum Algorithm: String, Sendable, Hashable, CaseIterable {
        /// The algorithm SHA-256.
        case sha256 = "sha-256"
        /// The algorithm SHA-512.
        case sha512 = "sha-512"

        var digest: KeyDigest.Algorithm { self == .sha256 ? .sha256 : .sha512 }
        var byteCount: Int { self == .sha256 ? 32 : 64 }
    }

    /// A digest and its algorithm.
    public struct Entry: Sendable, Hashable {
        /// The algorithm that computed the digest.
        public let algorithm: Algorithm
        /// The bytes of the digest.
        public let bytes: Data
    }

    /// The digests with known algorithms.
    public let entries: [Entry]

    /// Computes digests of data. Throws ``ErrandKeys/KeyError`` if the platform's cryptography library is missing.
    public init(of data: Data, _ algorithms: [Algorithm]) throws {
        entries = try algorithms.map { Entry(algorithm: $0, bytes: try KeyDigest.digest(of: data, $0.digest)) }
    }

    init(_ entries: [Entry]) { self.entries = entries }

    /// Parses a field. Ignores digests with other algorithms than ``Algorithm``. Throws ``SigningError`` with
    /// ``Errand/FailureCode/digestMismatch`` if the field is malformed or has no digest with a known algorithm.
    public init(parsing text: String) throws {
        guard let fields = try? StructuredField.Dictionary(parsing: text) else {
            throw SigningError(.digestMismatch, "the digest field is malformed")
        }
        entries = try Algorithm.allCases.compactMap { algorithm in
            guard let member = fields[algorithm.rawValue] else { return nil }
            guard let bytes = member.item?.value.bytes, bytes.count == algorithm.byteCount else {
                throw SigningError(.digestMismatch, "the digest with \(algorithm.rawValue) is malformed")
            }
            return Entry(algorithm: algorithm, bytes: bytes)
        }
        guard !entries.isEmpty else {
            throw SigningError(.digestMismatch, "the field has no digest with sha-256 or sha-512")
        }
    }

    /// The field's text, such as `sha-256=:…:`.
    public var fieldValue: String {
        entries.map { "\($0.algorithm.rawValue)=:\($0.bytes.base64EncodedString()):" }.joined(separator: ", ")
    }

    /// Returns whether all digests match the bytes. Throws ``ErrandKeys/KeyError`` if the platform's cryptography
    /// library is missing.
    public func matches(_ data: Data) throws -> Bool {
        try entries.allSatisfy { try KeyDigest.digest(of: data, $0.algorithm.digest) == $0.bytes }
    }
}

final class BodyDigests: Sendable {
    private struct State: ~Copyable {
        var sha256: KeyDigest?
        var sha512: KeyDigest?
    }

    private let state: Mutex<State>

    init(_ algorithms: [ContentDigest.Algorithm]) throws {
        let sha256 = algorithms.contains(.sha256) ? try KeyDigest(.sha256) : nil
        let sha512 = algorithms.contains(.sha512) ? try KeyDigest(.sha512) : nil
        state = Mutex(State(sha256: sha256, sha512: sha512))
    }

    func update(_ data: Data) throws {
        try state.withLock { state in
            try state.sha256?.update(data)
            try state.sha512?.update(data)
        }
    }

    /// Call it only once.
    func finalize() throws -> ContentDigest {
        try state.withLock { state in
            var entries: [ContentDigest.Entry] = []
            if let digest = state.sha256.take() {
                entries.append(ContentDigest.Entry(algorithm: .sha256, bytes: try digest.finalize()))
            }
            if let digest = state.sha512.take() {
                entries.append(ContentDigest.Entry(algorithm: .sha512, bytes: try digest.finalize()))
            }
            return ContentDigest(entries)
        }
    }

    static func read(_ body: RequestBody, _ algorithms: [ContentDigest.Algorithm]) async throws -> ContentDigest {
        let digests = try BodyDigests(algorithms)
        for try await chunk in try body.open() { try digests.update(chunk) }
        return try digests.finalize()
    }
}
