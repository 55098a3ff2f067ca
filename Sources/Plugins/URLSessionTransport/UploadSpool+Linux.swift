#if canImport(FoundationNetworking)
import Errand
import Foundation

/// Collects a body in memory or, above a limit, in a temporary file that only its owner can read.
struct UploadSpool {
    private var data = Data()
    private var file: (url: URL, handle: FileHandle)?

    mutating func fill(from body: HTTPBody, inMemory limit: Int, announced: Int64?) async throws -> Int64 {
        var count: Int64 = 0
        for try await chunk in body {
            count += Int64(chunk.count)
            if let announced, count > announced { throw SessionUpload.wrongLength(announced, count) }
            data.append(chunk)
            if data.count > limit { try spill() }
        }
        if let announced, count < announced { throw SessionUpload.wrongLength(announced, count) }
        return count
    }

    private mutating func spill() throws {
        if file == nil {
            let name = "errand-body-\(UUID().uuidString)"
            let url = FileManager.default.temporaryDirectory.appendingPathComponent(name)
            let isMade = FileManager.default.createFile(
                atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
            guard isMade, let handle = FileHandle(forWritingAtPath: url.path) else {
                throw ErrandError(.fileFailed, "a temporary file for the body couldn't be created")
            }
            file = (url, handle)
        }
        do { try file?.handle.write(contentsOf: data) } catch {
            throw ErrandError(.fileFailed, "the body couldn't be written to a temporary file", underlying: error)
        }
        data = Data()
    }

    mutating func finish() throws -> SessionUpload.Source {
        if file == nil { return data.isEmpty ? .none : .data(data) }
        try spill()
        guard let file else { return .none }
        try? file.handle.close()
        return .file(file.url, isOurs: true)
    }

    mutating func discard() {
        guard let file else { return }
        try? file.handle.close()
        try? FileManager.default.removeItem(at: file.url)
    }
}
#endif
