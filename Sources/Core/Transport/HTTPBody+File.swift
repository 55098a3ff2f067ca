import ErrandSupport

extension HTTPBody {
    @concurrent static func read(_ file: FileReader) async throws -> Data? {
        try Task.checkCancellation()
        return try ErrandError.naming(.file) { try file.next() }
    }

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
        do { return try body() } catch let failure as any SupportFault {
            throw ErrandError(code, failure.description, underlying: failure)
        }
    }
}
