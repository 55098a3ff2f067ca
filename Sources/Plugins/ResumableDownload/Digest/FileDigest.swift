import Errand
import ErrandSupport
import Synchronization

import ErrandEssentials

/// The SHA-256 of a file that is on its way: fed as the bytes come where they come in order, from the disk where not. What
/// an earlier run wrote is always read from the disk: a saved state would vouch for bytes that nobody looked at.
final class FileDigest: Sendable {
    private struct State {
        let given: [UInt8]?
        var server: [UInt8]?
        var running: (any RunningSHA256)?
        var position: Int64 = 0

        var isWanted: Bool { given != nil || server != nil }

        mutating func add(_ data: Data) {
            var running = self.running.take() ?? PlatformSHA256.make()
            data.withUnsafeBytes { running.update($0) }
            self.running = running
            position += Int64(data.count)
        }
    }

    private let state: Mutex<State>

    init(expected: [UInt8]?) { state = Mutex(State(given: expected)) }

    /// What the server says of the whole file; nil changes nothing.
    func expect(_ digest: [UInt8]?) {
        if let digest { state.withLock { $0.server = digest } }
    }

    /// For a file that is begun anew.
    func restart() { state.withLock { ($0.running, $0.position, $0.server) = (nil, 0, nil) } }

    /// Takes in what follows what it has; the rest is read from the disk in the end.
    func update(_ data: Data, at offset: Int64) {
        state.withLock { if $0.isWanted, offset == $0.position { $0.add(data) } }
    }

    /// Reads what was not seen yet, and compares. Blocks.
    func check(_ file: PartialFile, total: Int64) throws {
        while try state.withLock({ state -> Bool in
            guard state.isWanted, state.position < total else { return false }
            let data = try file.read(at: state.position, Int(min(1 << 20, total - state.position)))
            if data.isEmpty { throw DownloadError(.file, "the partial file is shorter than what was written to it") }
            state.add(data)
            return true
        }) { try Task.checkCancellation() }
        try state.withLock { state in
            guard state.isWanted else { return }
            let found = (state.running ?? PlatformSHA256.make()).finalized()
            let text = Hexadecimal.text(found)
            if let given = state.given, given != found {
                throw DownloadError(.checksumMismatch, "SHA-256 \(Hexadecimal.text(given)) expected, \(text) arrived")
            }
            if state.given == nil, let server = state.server, server != found {
                throw DownloadError(
                    .digestMismatch,
                    "the server's Repr-Digest says SHA-256 \(Hexadecimal.text(server)), \(text) arrived")
            }
        }
    }
}

/// The digest of one answer's content, where the server sent one (`Content-Digest`, RFC 9530, section 2).
struct ContentDigest {
    private let expected: [UInt8]?
    private var running: (any RunningSHA256)?

    init(_ response: HTTPResponse) {
        expected = ReprDigest.sha256(response.headers["Content-Digest"])
        if expected != nil { running = PlatformSHA256.make() }
    }

    mutating func update(_ data: Data) { data.withUnsafeBytes { running?.update($0) } }

    func check() throws {
        guard let expected, let found = running?.finalized(), found != expected else { return }
        throw DownloadError(.digestMismatch, "the content is not what the server's Content-Digest says")
    }
}

/// The dictionaries of RFC 9530: `sha-256=:…:, sha-512=:…:`.
enum ReprDigest {
    /// The 32 bytes of `sha-256`; nil if there are none. Other algorithms are passed over.
    static func sha256(_ field: String?) -> [UInt8]? {
        guard let field, field.utf8.count <= 4096 else { return nil }
        for member in field.split(separator: ",") {
            let text = member.drop { $0 == " " || $0 == "\t" }
            guard text.hasPrefix("sha-256=:") else { continue }
            let base64 = text.dropFirst(9).prefix { $0 != ":" }
            guard let data = Data(base64Encoded: String(base64)), data.count == 32 else { return nil }
            return Array(data)
        }
        return nil
    }
}
