import ErrandSupport
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads a file in pieces of 256 KiB as they are pulled; opened at the first.
final class FileBodySource: HTTPBodySource {
    private let path: String
    private let file = Mutex<SystemFile?>(nil)

    init(_ url: URL) { path = url.path }

    @concurrent func nextChunk() async throws -> Data? {
        try Task.checkCancellation()
        return try ErrandError.naming(.file) {
            try file.withLock { file in
                if file == nil { file = try SystemFile(reading: path) }
                return try file?.read(256 << 10)
            }
        }.flatMap { $0.isEmpty ? nil : $0 }
    }

    func cancel() {}
}

extension HTTPBody {
    /// The body as a file that appears, or replaces the old one, only when it is whole. Throws
    /// ``ErrandError/Code/file`` when it cannot be written; nothing is left behind then.
    @concurrent func written(to url: URL) async throws -> HTTPBody {
        let temporary = SystemFile.temporary(beside: url.path)
        do {
            let file = try ErrandError.naming(.file) { try SystemFile(creating: temporary) }
            var count: Int64 = 0
            for try await chunk in self {
                try ErrandError.naming(.file) { try file.write(chunk) }
                count += Int64(chunk.count)
            }
            try ErrandError.naming(.file) {
                try file.flush()
                try SystemFile.rename(temporary, to: url.path)
            }
            return HTTPBody(file: url, length: count)
        } catch {
            SystemFile.remove(temporary)
            throw error
        }
    }
}

extension ErrandError {
    /// What the system said, as an error of Core's.
    static func naming<Value: ~Copyable>(_ code: Code, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let failure as SystemFile.Failure {
            throw ErrandError(code, failure.description, underlying: failure)
        }
    }
}
