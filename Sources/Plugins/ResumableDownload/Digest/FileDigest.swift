import Errand
import ErrandDigests
import ErrandEssentials
import ErrandHTTPFields
import ErrandSupport
import ErrandTransfers
import Synchronization

/// Computes the digest of a downloaded file. Bytes that arrive in order are hashed as they arrive. All other bytes are
/// read from disk at the end. Bytes of an earlier run are always read from disk, because a saved hash could hide damage
/// that happened later.
final class FileDigest: Sendable {
    private struct State {
        let given: [UInt8]?
        var server: [UInt8]?
        var running: (any RunningSHA256)?
        var position: Int64 = 0

        var isWanted: Bool { given != nil || server != nil }

        mutating func add(_ data: Data) {
            var running = self.running.take() ?? PlatformSHA256.make()
            running.update(data.span)
            self.running = running
            position += Int64(data.count)
        }
    }

    private let state: Mutex<State>

    init(expected: [UInt8]?) { state = Mutex(State(given: expected)) }

    func expect(_ digest: [UInt8]?) {
        if let digest { state.withLock { $0.server = digest } }
    }

    func restart() { state.withLock { ($0.running, $0.position, $0.server) = (nil, 0, nil) } }

    func update(_ data: Data, at offset: Int64) {
        state.withLock { if $0.isWanted, offset == $0.position { $0.add(data) } }
    }

    /// Throws if the file's digest is wrong. Blocks while it reads the file.
    func check(_ file: PartialFile, total: Int64) throws {
        while try state.withLock({ state -> Bool in
            guard state.isWanted, state.position < total else { return false }
            let data = try file.read(at: state.position, Int(min(1 << 20, total - state.position)))
            if data.isEmpty {
                throw TransferError(.fileFailed, "the partial file is shorter than the bytes that were written to it")
            }
            state.add(data)
            return true
        }) { try Task.checkCancellation() }
        try state.withLock { state in
            guard state.isWanted else { return }
            let found = (state.running ?? PlatformSHA256.make()).finalized()
            let text = Hexadecimal.text(found)
            if let given = state.given, given != found {
                throw TransferError(
                    .expectedChecksumMismatch,
                    "the file has the wrong SHA-256: expected \(Hexadecimal.text(given)), got \(text)")
            }
            if state.given == nil, let server = state.server, server != found {
                throw TransferError(
                    .serverDigestMismatch,
                    "the file doesn't match the server's Repr-Digest: expected SHA-256 \(Hexadecimal.text(server)), got \(text)"
                )
            }
        }
    }
}

/// Checks a response's content against its `Content-Digest` (RFC 9530, section 2).
struct ContentDigestCheck {
    private let expected: [UInt8]?
    private var running: (any RunningSHA256)?

    init(_ response: HTTPResponse) {
        expected = DigestField.sha256(response.headers[.contentDigest])
        if expected != nil { running = PlatformSHA256.make() }
    }

    mutating func update(_ data: Data) { running?.update(data.span) }

    func check() throws {
        guard let expected, let found = running?.finalized(), found != expected else { return }
        throw TransferError(.serverDigestMismatch, "the content doesn't match the server's Content-Digest")
    }
}

/// Digest fields (RFC 9530): `Repr-Digest: sha-256=:…:, sha-512=:…:`.
enum DigestField {
    /// Returns the SHA-256 in a digest field, or nil if the field isn't a dictionary (RFC 9651, section 3.2).
    static func sha256(_ field: String?) -> [UInt8]? {
        guard let field, field.utf8.count <= 4096,
            let digest = try? StructuredField.Dictionary(parsing: field)["sha-256"]?.item?.value.bytes,
            digest.count == SHA256Digest.byteCount
        else { return nil }
        return Array(digest)
    }
}
