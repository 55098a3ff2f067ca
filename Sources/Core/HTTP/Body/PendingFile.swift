package import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

extension HTTPBody {
    @concurrent static func read(_ file: FileReader) async throws -> Data? {
        try Task.checkCancellation()
        return try ErrandError.naming(.fileFailed) { try file.next() }
    }

    /// A body with the same bytes for a new reader. A file is opened again, so the new reader starts at the file's
    /// beginning.
    package var reopened: HTTPBody { file.map { HTTPBody(file: $0, length: length) } ?? self }
}

/// A body in a temporary file next to its destination, until the response is accepted. A failure or cancellation
/// removes the temporary file.
package final class PendingFile: Sendable {
    package let destination: URL
    package let length: Int64
    /// The temporary file. It's open, and so locked, until this object is released.
    private let file: SystemFile

    var temporary: URL { URL(filePath: file.path) }

    /// Writes the body to a new temporary file with the permissions of the file that it will replace.
    @concurrent package init(_ body: HTTPBody, for destination: URL) async throws {
        self.destination = destination
        do {
            let old = SystemFile.attributes(at: destination.path)
            let file = try Self.naming(destination) { () throws(SystemFile.Failure) in
                if old?.isDirectory == true || destination.path.isEmpty { throw SystemFile.directory(destination.path) }
                return try SystemFile.temporary(beside: destination.path, permissions: old?.permissions ?? 0o666)
            }
            var count: Int64 = 0
            do {
                for try await chunk in body {
                    try Self.naming(destination) { () throws(SystemFile.Failure) in try file.write(chunk) }
                    count += Int64(chunk.count)
                }
                try Self.naming(destination) { () throws(SystemFile.Failure) in
                    if let old { try file.setPermissions(old.permissions) }
                    try file.flush()
                }
            } catch {
                SystemFile.remove(file.path)
                throw error
            }
            length = count
            self.file = file
        } catch {
            body.cancel()
            throw error
        }
    }

    package var body: HTTPBody { HTTPBody(file: temporary, length: length) }

    @concurrent package func accept() async throws {
        try Self.naming(destination) { () throws(SystemFile.Failure) in
            try file.move(to: destination.path)
        }
    }

    package func discard() { SystemFile.remove(file.path) }

    package func placed<Value>(_ value: Value) -> Value {
        let final = HTTPBody(file: destination, length: length)
        switch value {
        case let url as URL where isOurs(url): return destination as? Value ?? value
        case let body as HTTPBody where isOurs(body.file): return final as? Value ?? value
        case var response as HTTPResponse where isOurs(response.body.file):
            response.body = final
            return response as? Value ?? value
        default: return value
        }
    }

    private func isOurs(_ url: URL?) -> Bool { url?.path == file.path }

    private static func naming<Value: ~Copyable>(
        _ destination: URL, _ body: () throws(SystemFile.Failure) -> Value
    ) throws -> Value {
        do { return try body() } catch {
            throw ErrandError(.fileFailed, "\(destination.path) cannot be written: \(error.reason)", underlying: error)
        }
    }
}

extension ErrandError {
    package static func naming<Value: ~Copyable>(_ code: Code, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let failure as any SupportFault {
            throw ErrandError(code, failure.description, underlying: failure)
        } catch let failure as URLSyntax.Fault {
            throw ErrandError(code, failure.description, underlying: failure)
        }
    }
}
